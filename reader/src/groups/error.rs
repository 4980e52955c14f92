//! Why a question about hardware resources has no answer.

use alloc::string::String;

/// Why a question about hardware resources has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ResourceError {
    /// The topology has groups of several levels.
    #[error(
        "hwloc://Group: the topology has groups of several levels; say which, from \
         hwloc://Group{first} to hwloc://Group{last}"
    )]
    SeveralLevels { first: u32, last: u32 },
    /// A rank is not on this node.
    #[error("rank {rank} of job {job} is not on this node")]
    NotHere { job: String, rank: u32 },
}
