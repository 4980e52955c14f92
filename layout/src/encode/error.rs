//! Why a description cannot be archived.

use crate::depth::Depth;
use alloc::boxed::Box;
use alloc::string::String;

/// Why a description cannot be archived.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum EncodeError {
    /// There is no root.
    #[error("the topology has no objects; expected at least a Machine")]
    Empty,
    /// The description refers to an object that it does not have.
    #[error("{what} names object {found}, but the topology has {count} objects")]
    NoSuchObject { what: &'static str, found: usize, count: usize },
    /// The normal depths are not 0, 1, 2, ..., or a logical index is missing or occurs twice.
    #[error(
        "depth {depth} has no object of logical index {logical_index}; levels must be complete"
    )]
    Level { depth: Depth, logical_index: u32 },
    /// Objects of one level have different types.
    #[error("depth {depth} has objects of type {found} and {expected}; a level has one type")]
    MixedLevel { depth: Depth, found: &'static str, expected: &'static str },
    /// The logical indexes of PUs are not in the order of the tree.
    #[error("PU L#{found} comes where the tree has PU L#{expected}")]
    PuOrder { found: u32, expected: u32 },
    /// A set, a PU or a NUMA node has a higher OS index than an archive may have.
    #[error("a set, a PU or a NUMA node has index {found}; archives hold indexes below {limit}")]
    SetTooLarge { found: usize, limit: usize },
    /// Two PUs or two NUMA nodes have one OS index.
    #[error(
        "two objects of type {object_type} have OS index {index}; expected a different one for each"
    )]
    SameIndex { object_type: &'static str, index: u32 },
    /// The own set of a PU or a NUMA node is not just its OS index.
    #[error("the {object_type} of OS index {index} has {which} {{{found}}}; expected {{{index}}}")]
    OwnSet { object_type: &'static str, index: u32, which: &'static str, found: String },
    /// PUs are allowed that the machine does not have.
    #[error(
        "the allowed cpuset is {found}, but the machine's complete cpuset is {complete}; expected \
         only PUs of the machine"
    )]
    Allowed { found: String, complete: String },
    /// A string has a zero inside, at which it would end in C.
    #[error("the string {found:?} has a zero byte inside; hwloc's strings end there")]
    ZeroInString { found: String },
    /// Objects are nested deeper than an archive allows, or one is below itself.
    #[error("object {found} is nested more than {limit} deep, or below itself")]
    TooDeep { found: usize, limit: usize },
    /// Serialising failed.
    #[error("the archive cannot be written")]
    Serialize(#[source] Box<dyn core::error::Error + Send + Sync>),
}
