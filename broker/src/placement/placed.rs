//! Nodes for ranks, and where ranks are.

use topobroker_layout::set::Set;
use topobroker_reader::{Object, Topology};

/// A node for ranks.
#[derive(Debug, Clone, Copy)]
pub struct Room<'a> {
    /// Its topology: the part that the job has of it.
    pub topology: Topology<'a>,
    /// How many ranks it takes if it is not oversubscribed; [`slots`](super::slots) by default.
    pub slots: Option<usize>,
}

/// Where a rank is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedRank<'a> {
    /// The place of its node among those that were given.
    pub node: usize,
    /// Its PUs by OS index; `None` if it is not bound.
    pub cpuset: Option<Set>,
    /// The devices that it is mapped to; none if it is not mapped by devices.
    pub devices: Vec<Object<'a>>,
}
