//! Errors of keys and of adoption.

use super::file_key::FileKey;
use alloc::string::String;
use topobroker_layout::OpenError;
use topobroker_process::{FileError, FilePath, OsError};

/// Why keys cannot be used: they are missing, malformed or not trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum KeysError {
    /// A key is missing.
    #[error(
        "{key} is not set: nothing is published to this process; start it under `topobroker run`, \
         or set the keys that `topobroker publish` prints"
    )]
    Missing { key: &'static str },
    /// The file with the daemon's keys exists but cannot be used.
    #[error(
        "{file}: the keys of the node's daemon are not used; expected a file of root or this user \
         that only its owner can write"
    )]
    Daemon { file: FilePath, source: FileError },
    /// A key is malformed.
    #[error("{key} is {found:?}, expected {expected}")]
    Malformed { key: &'static str, found: String, expected: &'static str },
}

/// Why a segment is not adopted. Every message names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum AdoptError {
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The file cannot be opened.
    #[error("{file}: cannot be opened (is it still published, and readable by this user?)")]
    Open { file: FileKey, source: OsError },
    /// The last part of the path is a symbolic link.
    #[error("{file}: is a symbolic link; expected the segment itself")]
    Symlink { file: FileKey },
    /// The file is not a regular file.
    #[error("{file}: is a {found}; expected a regular file")]
    NotRegular { file: FileKey, found: &'static str },
    /// The file belongs to another user, who could have forged it.
    #[error("{file}: belongs to user {found}; expected root or user {expected}")]
    Owner { file: FileKey, found: u32, expected: u32 },
    /// This user namespace does not map the owner of the file, so the owner could be anybody.
    #[error(
        "{file}: belongs to a user that this user namespace does not map, in a folder that others \
         can write to; mount the daemon's folder, /run/topobroker, into the container (read-only \
         will do), or publish in a folder that only its owner can write to"
    )]
    Unmapped { file: FileKey },
    /// Group or others may write the file.
    #[error("{file}: has mode {found:04o}; expected one that group and others cannot write")]
    Writable { file: FileKey, found: u32 },
    /// The memfd lacks seals, so its publisher could still change it.
    #[error("{file}: is a memfd without the seals against writing and shrinking")]
    Unsealed { file: FileKey },
    /// The file does not have the length that the size key says.
    #[error(
        "{file}: has {found} bytes, the size key says {expected}: truncated, or the key of \
         another segment"
    )]
    Size { file: FileKey, found: u64, expected: u64 },
    /// The file is longer than any segment.
    #[error("{file}: has {found} bytes, expected {limit} at most: no segment is that long")]
    Long { file: FileKey, found: u64, limit: u64 },
    /// The address key is not the preferred address of the segment.
    #[error(
        "{file}: prefers address {found:#x}, the address key says {expected:#x}: the key of \
         another segment"
    )]
    Address { file: FileKey, found: u64, expected: u64 },
    /// The kernel refuses to map the file.
    #[error("{file}: cannot be mapped")]
    Map { file: FileKey, source: FileError },
    /// The file is not a sound segment.
    #[error("{file}: is no sound segment")]
    Segment { file: FileKey, source: OpenError },
    /// This process has already adopted another topology, and it can have only one.
    #[error(
        "{file}: is segment {found}, but this process has adopted segment {adopted} from \
         {adopted_file}; a process adopts one topology for life"
    )]
    Different { file: FileKey, found: String, adopted: String, adopted_file: FileKey },
}
