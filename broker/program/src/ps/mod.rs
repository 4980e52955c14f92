//! `topobroker ps`: lists processes and threads that are bound, as `hwloc-ps` does, with their jobs and
//! ranks, and what is wrong with where they are.

mod misbound;
mod process;
mod ps;

pub(crate) use process::RANK;
pub(crate) use ps::Ps;
