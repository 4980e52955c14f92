//! Why a process cannot adopt.

use super::file_key::FileKey;
use std::io;
use std::path::PathBuf;
use topobroker_layout::OpenError;

/// The keys are missing or make no sense.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// Nobody handed this process a key.
    #[error(
        "{key} is not set: nothing is published to this process; start it under `topobroker run`, or set the keys that `topobroker publish` prints"
    )]
    Missing {
        /// The variable.
        key: &'static str,
    },
    /// The file with the daemon's keys is there, but not to be used.
    #[error(
        "{file}: the keys of the node's daemon are not used; expected a file of root or this user that nobody else can write"
    )]
    Daemon {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// A key is no such thing.
    #[error("{key} is {found:?}, expected {expected}")]
    Malformed {
        /// The variable.
        key: &'static str,
        /// Its value.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
}

/// Why a segment is not adopted. Every message names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdoptError {
    /// No keys, or bad ones.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The file cannot be opened.
    #[error("{file}: cannot be opened (is it still published, and readable by this user?)")]
    Open {
        /// The file.
        file: FileKey,
        /// Why.
        source: io::Error,
    },
    /// The last part of the path is a symbolic link.
    #[error("{file}: is a symbolic link; expected the segment itself")]
    Symlink {
        /// The file.
        file: FileKey,
    },
    /// Something else than a file.
    #[error("{file}: is a {found}; expected a regular file")]
    NotRegular {
        /// The file.
        file: FileKey,
        /// What it is.
        found: &'static str,
    },
    /// Another user could have forged it.
    #[error("{file}: belongs to user {found}; expected root or user {expected}")]
    Owner {
        /// The file.
        file: FileKey,
        /// Its owner.
        found: u32,
        /// This process's user.
        expected: u32,
    },
    /// In a user namespace that does not map its owner, who could be anybody.
    #[error(
        "{file}: belongs to a user that this user namespace does not map, in a folder that others can write to; mount the daemon's folder, /run/topobroker, into the container (read-only will do), or publish in a folder that only its owner can write to"
    )]
    Unmapped {
        /// The file.
        file: FileKey,
    },
    /// Another user could change it.
    #[error("{file}: has mode {found:04o}; expected one that group and others cannot write")]
    Writable {
        /// The file.
        file: FileKey,
        /// Its permission bits.
        found: u32,
    },
    /// A memfd that its publisher could still change.
    #[error("{file}: is a memfd without the seals against writing and shrinking")]
    Unsealed {
        /// The descriptor.
        file: FileKey,
    },
    /// The file is not as long as the key says.
    #[error(
        "{file}: has {found} bytes, the size key says {expected}: truncated, or the key of another segment"
    )]
    Size {
        /// The file.
        file: FileKey,
        /// Its length.
        found: u64,
        /// The key.
        expected: u64,
    },
    /// The file is longer than any segment.
    #[error("{file}: has {found} bytes, expected {limit} at most: no segment is that long")]
    Long {
        /// The file.
        file: FileKey,
        /// Its length.
        found: u64,
        /// Most bytes of a segment.
        limit: u64,
    },
    /// The address key is not the segment's.
    #[error(
        "{file}: prefers address {found:#x}, the address key says {expected:#x}: the key of another segment"
    )]
    Address {
        /// The file.
        file: FileKey,
        /// In the header.
        found: u64,
        /// The key.
        expected: u64,
    },
    /// The kernel refuses to map it.
    #[error("{file}: cannot be mapped")]
    Map {
        /// The file.
        file: FileKey,
        /// Why.
        source: io::Error,
    },
    /// The file is no sound segment.
    #[error("{file}: is no sound segment")]
    Segment {
        /// The file.
        file: FileKey,
        /// What is wrong with it.
        source: OpenError,
    },
    /// This process has adopted another topology, and a process has one.
    #[error(
        "{file}: is segment {found}, but this process has adopted segment {adopted} from {adopted_file}; a process adopts one topology for life"
    )]
    Different {
        /// The file asked for.
        file: FileKey,
        /// Its segment id.
        found: String,
        /// The segment id of the adopted one.
        adopted: String,
        /// Its file.
        adopted_file: FileKey,
    },
}
