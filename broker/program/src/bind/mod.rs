//! `topobroker bind`: binds a command or a process, as `hwloc-bind` does, or becomes a rank of a job.

mod bind;
mod manner;
mod rank;
mod report;

pub(crate) use bind::Bind;
pub(crate) use rank::exec_as_rank;
