//! Why ranks that are named one by one cannot be placed.

use super::super::error::PlacementError;

/// A list of ranks cannot be read, or its ranks cannot be placed.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ListError {
    /// A line is malformed.
    #[error("line {line}: {found:?} is {reason}; expected {expected}")]
    Malformed { line: usize, found: String, reason: &'static str, expected: &'static str },
    /// A rank has two lines.
    #[error("line {line}: rank {rank} has a line before it; expected each rank once")]
    Twice { line: usize, rank: u32 },
    /// No rank is named.
    #[error("names no ranks; expected {expected}")]
    Empty { expected: &'static str },
    /// A rank has no line.
    #[error("rank {rank} is not named; expected all of the {ranks} ranks from 0")]
    Missing { rank: u32, ranks: usize },
    /// The topology has no such object.
    #[error(
        "rank {rank}, {text:?}: there is no {object} with {numbering} index {index}; the topology \
         has {expected}"
    )]
    NoObject {
        rank: u32,
        text: String,
        object: &'static str,
        numbering: &'static str,
        index: u32,
        expected: String,
    },
    /// The CPUs of a rank are malformed.
    #[error("rank {rank}, {text:?}: {found:?} is {reason}; expected {expected}")]
    Slots { rank: u32, text: String, found: String, reason: &'static str, expected: &'static str },
    /// Two ranks have a PU.
    #[error(
        "rank {rank}: another rank has PUs {shared} too; add :overload-allowed to --bind-to to \
         let ranks share CPUs"
    )]
    Shares { rank: u32, shared: String },
    /// The ranks of a node cannot be placed on it.
    #[error(transparent)]
    Policy(#[from] PlacementError),
}
