//! `topobroker serve`: the daemon of a node, and how it is watched.

mod cdi;
mod journal;
mod metrics;
mod serve;
mod whole_file;

pub(super) use serve::Serve;
