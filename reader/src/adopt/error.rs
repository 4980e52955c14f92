//! Errors of keys and of adoption.

use super::file_key::FileKey;
use alloc::string::String;
use topobroker_layout::OpenError;
use topobroker_process::{FileError, FilePath, OsError};

/// Why keys cannot be used: they are missing, malformed or not trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// A key is missing.
    #[error(
        "{key} is not set: nothing is published to this process; start it under `topobroker run`, or set the keys that `topobroker publish` prints"
    )]
    Missing {
        /// The variable.
        key: &'static str,
    },
    /// The file with the daemon's keys exists but cannot be used.
    #[error(
        "{file}: the keys of the node's daemon are not used; expected a file of root or this user that nobody else can write"
    )]
    Daemon {
        /// The file.
        file: FilePath,
        /// What is wrong with it.
        source: FileError,
    },
    /// A key is malformed.
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
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The file cannot be opened.
    #[error("{file}: cannot be opened (is it still published, and readable by this user?)")]
    Open {
        /// The file.
        file: FileKey,
        /// The cause.
        source: OsError,
    },
    /// The last part of the path is a symbolic link.
    #[error("{file}: is a symbolic link; expected the segment itself")]
    Symlink {
        /// The file.
        file: FileKey,
    },
    /// The file is not a regular file.
    #[error("{file}: is a {found}; expected a regular file")]
    NotRegular {
        /// The file.
        file: FileKey,
        /// Kind of the file.
        found: &'static str,
    },
    /// The file belongs to another user, who could have forged it.
    #[error("{file}: belongs to user {found}; expected root or user {expected}")]
    Owner {
        /// The file.
        file: FileKey,
        /// Its owner.
        found: u32,
        /// This process's user.
        expected: u32,
    },
    /// This user namespace does not map the owner of the file, so the owner could be anybody.
    #[error(
        "{file}: belongs to a user that this user namespace does not map, in a folder that others can write to; mount the daemon's folder, /run/topobroker, into the container (read-only will do), or publish in a folder that only its owner can write to"
    )]
    Unmapped {
        /// The file.
        file: FileKey,
    },
    /// Group or others may write the file.
    #[error("{file}: has mode {found:04o}; expected one that group and others cannot write")]
    Writable {
        /// The file.
        file: FileKey,
        /// Its permission bits.
        found: u32,
    },
    /// The memfd lacks seals, so its publisher could still change it.
    #[error("{file}: is a memfd without the seals against writing and shrinking")]
    Unsealed {
        /// The descriptor.
        file: FileKey,
    },
    /// The file does not have the length that the size key says.
    #[error(
        "{file}: has {found} bytes, the size key says {expected}: truncated, or the key of another segment"
    )]
    Size {
        /// The file.
        file: FileKey,
        /// Its length.
        found: u64,
        /// Size in the key.
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
    /// The address key is not the preferred address of the segment.
    #[error(
        "{file}: prefers address {found:#x}, the address key says {expected:#x}: the key of another segment"
    )]
    Address {
        /// The file.
        file: FileKey,
        /// Address in the header.
        found: u64,
        /// Address in the key.
        expected: u64,
    },
    /// The kernel refuses to map the file.
    #[error("{file}: cannot be mapped")]
    Map {
        /// The file.
        file: FileKey,
        /// The cause.
        source: FileError,
    },
    /// The file is not a sound segment.
    #[error("{file}: is no sound segment")]
    Segment {
        /// The file.
        file: FileKey,
        /// What is wrong with it.
        source: OpenError,
    },
    /// This process has already adopted another topology, and it can have only one.
    #[error(
        "{file}: is segment {found}, but this process has adopted segment {adopted} from {adopted_file}; a process adopts one topology for life"
    )]
    Different {
        /// The file that was asked for.
        file: FileKey,
        /// Its segment id.
        found: String,
        /// Id of the adopted segment.
        adopted: String,
        /// File of the adopted segment.
        adopted_file: FileKey,
    },
}
