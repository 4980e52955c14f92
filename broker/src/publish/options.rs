//! Where and how a topology is published.

use super::address::Address;
use std::path::PathBuf;
use topobroker_reader::{Scope, Source};

/// How file names of segments begin.
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
    /// A sealed memfd, which children of this process inherit and nobody can ever change.
    Memfd,
}

/// How a topology is published.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishOptions {
    /// Where.
    pub store: Store,
    /// At which address.
    pub address: Address,
    /// Only for this user: mode 0400 instead of 0444.
    pub private: bool,
    /// Until it is unpublished, rather than as long as this process lives.
    pub keep: bool,
    /// Whose resources it describes.
    pub scope: Scope,
    /// From where it was captured.
    pub source: Source,
    /// Number of times that this node's topology was published before.
    pub generation: u64,
    /// For programs that know only hwloc or PMIx too: see [`super::legacy`].
    pub legacy: bool,
}
