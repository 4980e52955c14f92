//! Errors of the sources of PUs.

use alloc::string::String;
use topobroker_process::{FileError, FilePath};

/// Why a source of PUs cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum SourceError {
    /// The text is malformed.
    #[error("{what} {text:?}: {reason} at position {position}; expected {expected}")]
    Malformed {
        what: &'static str,
        text: String,
        position: usize,
        reason: &'static str,
        expected: &'static str,
    },
    /// The text has an index that the topology lacks.
    #[error("{what} {text:?}: there is no {object} with {numbering} index {index}; {expected}")]
    NotInMachine {
        what: &'static str,
        text: String,
        object: &'static str,
        numbering: &'static str,
        index: u32,
        expected: String,
    },
    /// The text names no PU.
    #[error("{what} {text:?}: names no PU; expected one at least")]
    Empty { what: &'static str, text: String },
    /// A file of the kernel cannot be read.
    #[error("{file}: cannot be read")]
    Read { file: FilePath, source: FileError },
    /// A cgroup has no cpuset controller.
    #[error("{file}: no such file: the cgroup has no cpuset controller")]
    NoCpuset { file: FilePath },
}
