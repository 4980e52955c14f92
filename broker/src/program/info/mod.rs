//! `topobroker info`: what is known of objects, as `hwloc-info` prints it.

mod details;
mod info;

pub use info::Info;
