//! `topobroker info`: prints the details of objects, as `hwloc-info` does.

mod details;
mod info;

pub use info::Info;
