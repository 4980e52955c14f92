//! Why binding fails.

use std::io;
use topobroker_layout::set::Set;

/// Why a process cannot be bound, or its binding cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum BindError {
    /// The set is empty, or the kernel may not use any of its PUs or NUMA nodes here.
    #[error(
        "{what} {set:?}: the kernel refuses to bind to them; expected ones that are online and in \
         the cgroup of the process"
    )]
    Set { what: &'static str, set: Box<Set> },
    /// The set has all indexes from some one on.
    #[error("{what} {set:?}: expected a set that ends")]
    Infinite { what: &'static str, set: Box<Set> },
    /// The process or thread is not there, or belongs to somebody else, or the kernel cannot do it.
    #[error("{target}: cannot {step}")]
    Kernel { target: String, step: &'static str, source: io::Error },
}
