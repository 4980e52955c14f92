//! What hwloc's discovery depends on besides the machine and what it is asked for: environment,
//! cgroup and affinity.

use alloc::vec::Vec;
use topobroker_reader::jobs::{Cgroup, SourceError, affinity};
use topobroker_reader::{FilePath, Format};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// What the topology of a load depends on besides its [`LoadKey`](crate::LoadKey). A process is
/// served only if all this is for it as it was for the publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Conditions {
    /// [`hash_of_environment`] of the publisher.
    pub environment: u64,
    /// [`hash_of_environment`] of processes that have got the variables of the publication.
    pub published_environment: u64,
    /// A hash of the PUs and NUMA nodes that the cgroup allows.
    pub cgroup: u64,
    /// A hash of the PUs that the process may run on.
    pub affinity: u64,
}

/// Where the publisher has found its cgroup. A process in the same one need not look for it among
/// all mounts, which takes longer than all the rest of a load.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CgroupPlace {
    /// A hash of what `/proc/self/cgroup` says.
    pub member: u64,
    /// Folder of the cgroup; empty if it is not known.
    pub folder: Vec<u8>,
}

/// A hash of the PUs and NUMA nodes that the cgroup of this process allows. If the process is in
/// the cgroup whose place is `known`, the cgroup is read from there.
///
/// # Errors
///
/// [`SourceError`] if they cannot be read.
pub fn hash_of_cgroup(known: &CgroupPlace) -> Result<u64, SourceError> {
    let is_same =
        hash_of_lists(&[&Cgroup::membership()?]) == known.member && !known.folder.is_empty();
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
    let member = hash_of_lists(&[&Cgroup::membership()?]);
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

/// Prefix of the variables that change what hwloc loads.
const HWLOC_PREFIX: &[u8] = b"HWLOC_";
/// Variables that change which GPUs the libraries of their vendors find.
const GPU_VARIABLES: [&[u8]; 8] = [
    b"CUDA_DEVICE_ORDER=",
    b"CUDA_VISIBLE_DEVICES=",
    b"ROCR_VISIBLE_DEVICES=",
    b"HIP_VISIBLE_DEVICES=",
    b"GPU_DEVICE_ORDINAL=",
    b"ZE_AFFINITY_MASK=",
    b"ZE_FLAT_DEVICE_HIERARCHY=",
    b"ZE_ENABLE_PCI_ID_DEVICE_ORDER=",
];
/// Variables of hwloc that only change what it prints.
const WITHOUT_EFFECT: [&[u8]; 2] = [b"HWLOC_HIDE_ERRORS=", b"HWLOC_COMPONENTS_VERBOSE="];

/// A hash of those variables that change what hwloc loads, of all that are given as `NAME=VALUE`,
/// in any order.
pub fn hash_of_environment<'a>(variables: impl Iterator<Item = &'a [u8]>) -> u64 {
    let starts = |variable: &[u8], names: &[&[u8]]| names.iter().any(|it| variable.starts_with(it));
    let mut counted: Vec<&[u8]> = variables
        .filter(|it| it.starts_with(HWLOC_PREFIX) || starts(it, &GPU_VARIABLES))
        .filter(|it| !starts(it, &WITHOUT_EFFECT))
        .collect();
    counted.sort_unstable();
    let mut hash = Xxh3::new();
    for variable in counted {
        hash.update(&xxh3_64(variable).to_le_bytes());
    }
    hash.digest()
}

/// A hash of lists of indexes, such as `0-3,8`.
fn hash_of_lists(lists: &[&str]) -> u64 {
    xxh3_64(lists.join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_that_change_what_hwloc_loads_count_in_any_order() {
        let hash = |list: &[&str]| hash_of_environment(list.iter().map(|it| it.as_bytes()));
        let expected = hash(&["HWLOC_XMLFILE=/a", "HWLOC_THISSYSTEM=1"]);
        assert_eq!(
            hash(&["HOME=/", "HWLOC_THISSYSTEM=1", "HWLOC_HIDE_ERRORS=2", "HWLOC_XMLFILE=/a"]),
            expected
        );
        assert_ne!(hash(&["HWLOC_XMLFILE=/b", "HWLOC_THISSYSTEM=1"]), expected);
        assert_ne!(
            hash(&["HWLOC_XMLFILE=/a", "HWLOC_THISSYSTEM=1", "CUDA_VISIBLE_DEVICES=0"]),
            expected
        );
        assert_ne!(hash(&["HWLOC_XMLFILE=/a"]), expected);
        assert_ne!(hash_of_lists(&["0-3", "0"]), hash_of_lists(&["0-3", ""]));
    }
}
