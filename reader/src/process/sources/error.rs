//! Why a source of PUs cannot be used.

use std::io;
use std::path::PathBuf;

/// What says which PUs to use cannot be read or is not of this machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Not written as it should be.
    #[error("{what} {text:?}: {reason} at position {position}; expected {expected}")]
    Malformed {
        /// What it is, such as `PMIX_CPUSET`.
        what: &'static str,
        /// The text.
        text: String,
        /// Place of what is wrong in it, in bytes from 0.
        position: usize,
        /// What is wrong.
        reason: &'static str,
        /// What may be there.
        expected: &'static str,
    },
    /// An index that the topology does not have.
    #[error("{what} {text:?}: there is no {object} with {numbering} index {index}; {expected}")]
    NotInMachine {
        /// What it is.
        what: &'static str,
        /// The text.
        text: String,
        /// Type of the object.
        object: &'static str,
        /// How it is numbered.
        numbering: &'static str,
        /// The index.
        index: u32,
        /// Which there are.
        expected: String,
    },
    /// Nothing is named.
    #[error("{what} {text:?}: names no PU; expected one at least")]
    Empty {
        /// What it is.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// A file of the kernel cannot be read.
    #[error("{file}: cannot be read")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
}
