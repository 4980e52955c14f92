//! `topobroker job`: jobs over the adopted topology.

mod exec;
mod gpus;
mod groups;
mod job;
mod locality;
mod named;
mod nics;
mod pe_list;

pub(super) use job::Job;
pub(super) use named::{cpuset_of_rank, named};
pub(super) use nics::findings_of;
