//! Why binding fails.

use std::io;
use topobroker_layout::set::Set;

/// Why a process cannot be bound, or its binding cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The set is empty, or the kernel may not use any of its PUs or NUMA nodes here.
    #[error(
        "{what} {set:?}: the kernel refuses to bind to them; expected ones that are online and in the cgroup of the process"
    )]
    Set {
        /// `PUs` or `NUMA nodes`.
        what: &'static str,
        /// The set.
        set: Box<Set>,
    },
    /// The set has all indexes from some one on.
    #[error("{what} {set:?}: expected a set that ends")]
    Infinite {
        /// `PUs` or `NUMA nodes`.
        what: &'static str,
        /// The set.
        set: Box<Set>,
    },
    /// The process or thread is not there, or belongs to somebody else, or the kernel cannot do it.
    #[error("{target}: cannot {step}")]
    Kernel {
        /// The process or thread.
        target: String,
        /// What was tried.
        step: &'static str,
        /// What the kernel says.
        source: io::Error,
    },
}
