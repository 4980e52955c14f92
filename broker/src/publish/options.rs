//! Where and how a topology is published.

use super::address::Address;
use std::path::PathBuf;
use topobroker_reader::{Scope, Source};
use topobroker_slots::LoadKey;

/// Prefix of the file names of segments.
pub const NAME_PREFIX: &str = "topobroker-";

/// Where a segment is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Store {
    /// POSIX shared memory: a file in `/dev/shm`.
    #[default]
    Shm,
    /// A file in a folder, such as the session folder of a launcher.
    Folder(PathBuf),
    /// A sealed memfd. Children of this process inherit it, and it cannot be changed.
    Memfd,
}

/// How a topology is published.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishOptions {
    /// Where the segment is kept.
    pub store: Store,
    /// The address at which processes map the segment.
    pub address: Address,
    /// Only for this user: mode 0400 instead of 0444.
    pub private: bool,
    /// Keep the segment until it is unpublished, and not only as long as this process lives.
    pub keep: bool,
    /// The process that the header names as the publisher; `None` for this one. The segment becomes
    /// stale when it ends. Whoever publishes removes it all the same when it is dropped.
    pub publisher: Option<u32>,
    /// Whose resources the topology describes.
    pub scope: Scope,
    /// Where the topology was captured from.
    pub source: Source,
    /// Number of times that this node's topology was published before.
    pub generation: u64,
    /// Also publish files for programs that know only hwloc or PMIx: see [`super::legacy`].
    pub legacy: bool,
    /// Also publish slots for the hwloc guard: see [`super::slots`]. `legacy` does too, if the
    /// topology is of this machine.
    pub guard: bool,
    /// Loads that the slots are for, besides the usual ones: see [`super::slots::USUAL_KEYS`].
    pub load_keys: Vec<LoadKey>,
    /// File names of libraries and programs whose loads are served, besides those that were tried:
    /// see [`super::slots::TRIED_CALLERS`]. `libfoo.so.2` covers `libfoo.so.2.1`, and `*` every
    /// caller.
    pub guard_callers: Vec<String>,
}

/// Permission bits of a segment.
pub(crate) fn mode(is_private: bool) -> u32 {
    if is_private { 0o400 } else { 0o444 }
}
