//! `topobroker job`: jobs over the adopted topology.

mod job;
mod locality;

pub(super) use job::Job;
