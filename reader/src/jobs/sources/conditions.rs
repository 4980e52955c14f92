//! What hwloc's discovery depends on besides the machine and the environment.

use super::affinity::affinity;
use super::cgroup::{Cgroup, membership};
use super::error::SourceError;
use crate::adopt::FilePath;
use topobroker_layout::set::Format;
use topobroker_layout::slots::{CgroupPlace, hash_of_lists};

/// A hash of the PUs and NUMA nodes that the cgroup of this process allows. If the process is in the
/// cgroup whose place is `known`, the cgroup is read from there.
///
/// # Errors
///
/// [`SourceError`] if they cannot be read.
pub fn hash_of_cgroup(known: &CgroupPlace) -> Result<u64, SourceError> {
    let is_same = hash_of_lists(&[&membership()?]) == known.member && !known.folder.is_empty();
    let folder = FilePath::from_bytes(known.folder.as_slice());
    // A cgroup that cannot be read there is looked for.
    let read = is_same.then(|| Cgroup::read(&folder).ok()).flatten();
    let cgroup = read.map_or_else(Cgroup::of_this_process, |cgroup| Ok(Some(cgroup)))?;
    Ok(cgroup.map_or_else(|| hash_of_lists(&[]), |cgroup| hash_of(&cgroup)))
}

/// The place of the cgroup of this process, and a hash of what it allows.
///
/// # Errors
///
/// [`SourceError`] if they cannot be read.
pub fn place_of_cgroup() -> Result<(CgroupPlace, u64), SourceError> {
    let member = hash_of_lists(&[&membership()?]);
    let Some(cgroup) = Cgroup::of_this_process()? else {
        return Ok((CgroupPlace::default(), hash_of_lists(&[])));
    };
    let folder = cgroup.path.as_bytes().to_vec();
    Ok((CgroupPlace { member, folder }, hash_of(&cgroup)))
}

fn hash_of(cgroup: &Cgroup) -> u64 {
    hash_of_lists(&[&cgroup.cpus.to_text(Format::List), &cgroup.mems.to_text(Format::List)])
}

/// A hash of the PUs that this thread may run on.
///
/// # Errors
///
/// [`SourceError`] if they cannot be read.
pub fn hash_of_affinity() -> Result<u64, SourceError> {
    Ok(hash_of_lists(&[&affinity()?.to_text(Format::List)]))
}
