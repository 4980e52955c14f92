//! Why a description cannot be archived.

use crate::depth::Depth;

/// Why a description cannot be archived.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// There is no root.
    #[error("the topology has no objects; expected at least a Machine")]
    Empty,
    /// An object, child or target is named that is not there.
    #[error("{what} names object {found}, but the topology has {count} objects")]
    NoSuchObject {
        /// What names it.
        what: &'static str,
        /// The place named.
        found: usize,
        /// Number of objects.
        count: usize,
    },
    /// The normal depths are not 0, 1, 2, ... or a logical index is missing or twice.
    #[error(
        "depth {depth} has no object of logical index {logical_index}; levels must be complete"
    )]
    Level {
        /// The depth with the gap.
        depth: Depth,
        /// The index expected there.
        logical_index: u32,
    },
    /// Objects of one level have different types.
    #[error("depth {depth} has objects of type {found} and {expected}; a level has one type")]
    MixedLevel {
        /// The depth.
        depth: Depth,
        /// The type met.
        found: &'static str,
        /// The type of its first object.
        expected: &'static str,
    },
    /// PUs are not numbered as the tree lists them.
    #[error("PU L#{found} comes where the tree has PU L#{expected}")]
    PuOrder {
        /// The logical index met.
        found: u32,
        /// The logical index expected.
        expected: u32,
    },
    /// A set, a PU or a NUMA node has a higher OS index than an archive holds.
    #[error("a set, a PU or a NUMA node has index {found}; archives hold indexes below {limit}")]
    SetTooLarge {
        /// The highest index.
        found: usize,
        /// First index that is too high.
        limit: usize,
    },
    /// A string has a zero inside, where C would end it.
    #[error("the string {found:?} has a zero byte inside; hwloc's strings end there")]
    ZeroInString {
        /// The string.
        found: String,
    },
    /// Objects below objects below objects: deeper than any machine, or in a circle.
    #[error("object {found} is nested more than {limit} deep, or below itself")]
    TooDeep {
        /// Its place in the list.
        found: usize,
        /// Most that archives hold.
        limit: usize,
    },
    /// Serialising failed.
    #[error("the archive cannot be written")]
    Serialize(#[source] Box<dyn std::error::Error + Send + Sync>),
}
