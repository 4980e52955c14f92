//! Errors of the sources of PUs.

use alloc::string::String;
use topobroker_process::{FileError, FilePath};

/// Why a source of PUs cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The text is malformed.
    #[error("{what} {text:?}: {reason} at position {position}; expected {expected}")]
    Malformed {
        /// Name of the source, such as `PMIX_CPUSET`.
        what: &'static str,
        /// The text.
        text: String,
        /// Position of the mistake in the text, in bytes from 0.
        position: usize,
        /// What is wrong.
        reason: &'static str,
        /// What is expected there.
        expected: &'static str,
    },
    /// The text has an index that the topology lacks.
    #[error("{what} {text:?}: there is no {object} with {numbering} index {index}; {expected}")]
    NotInMachine {
        /// Name of the source.
        what: &'static str,
        /// The text.
        text: String,
        /// Type of the object.
        object: &'static str,
        /// Numbering of the index.
        numbering: &'static str,
        /// The index.
        index: u32,
        /// The indexes that the topology has.
        expected: String,
    },
    /// The text names no PU.
    #[error("{what} {text:?}: names no PU; expected one at least")]
    Empty {
        /// Name of the source.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// A file of the kernel cannot be read.
    #[error("{file}: cannot be read")]
    Read {
        /// The file.
        file: FilePath,
        /// The cause.
        source: FileError,
    },
    /// A cgroup has no cpuset controller.
    #[error("{file}: no such file: the cgroup has no cpuset controller")]
    NoCpuset {
        /// The file that was looked for.
        file: FilePath,
    },
}
