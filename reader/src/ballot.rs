//! The ballot: a file in shared memory where processes of a user meet that find nothing published.
//! The process that has locked it discovers the machine, and leaves the keys of its segment there.
//! The lock is the business of `topobroker`; this module finds the keys.

use crate::adopt::Keys;
use crate::jobs::Cgroup;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use core::hash::{BuildHasher, BuildHasherDefault};
use rustix::fs::{FileType, Mode, OFlags};
use std::fs::File;
use std::hash::DefaultHasher;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The keys of the segment that a process of this user has discovered; `None` if none has. Adopting
/// it fails if it has been removed since.
///
/// ```
/// if let Some(keys) = topobroker_reader::ballot::elected() {
///     println!("{keys}");
/// }
/// ```
#[must_use]
pub fn elected() -> Option<Keys> {
    keys_in_ballot(&open_ballot(&ballot()?, OFlags::empty())?)
}

/// The folder of POSIX shared memory.
pub const SHM_FOLDER: &str = "/dev/shm";

/// The beginning of the names of a user's ballots.
#[must_use]
pub fn ballot_prefix() -> String {
    format!("topobroker-load-{}-", rustix::process::geteuid().as_raw())
}

/// The path of the ballot of this process. It differs between users, cgroups, pid namespaces and
/// hwloc settings in the environment, because processes that would discover different topologies
/// must not share one. `None` without /proc.
#[must_use]
pub fn ballot() -> Option<PathBuf> {
    let is_setting = |name: &str| {
        name.starts_with("HWLOC_") && !name.ends_with("VERBOSE") && name != "HWLOC_HIDE_ERRORS"
    };
    let settings: BTreeMap<_, _> =
        std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_setting)).collect();
    let cgroup = Cgroup::of_this_process().ok()?;
    let resources = cgroup.map(|cgroup| (cgroup.cpus.to_string(), cgroup.mems.to_string()));
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let hash =
        BuildHasherDefault::<DefaultHasher>::default().hash_one((resources, namespace, settings));
    Some(PathBuf::from(SHM_FOLDER).join(format!("{}{hash:016x}", ballot_prefix())))
}

/// Opens a ballot. It must be a regular file of this user that no other user may read or write.
#[must_use]
pub fn open_ballot(path: &Path, more: OFlags) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | more;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    let own = stat.st_uid == rustix::process::geteuid().as_raw()
        && stat.st_mode & 0o077 == 0
        && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    own.then(|| file.into())
}

/// The keys that a winner has left in a ballot.
#[must_use]
pub fn keys_in_ballot(file: &File) -> Option<Keys> {
    /// More bytes than the lines of three keys have.
    const MOST: u64 = 8192;
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).ok()?;
    Keys::from_lines(&text).ok()
}
