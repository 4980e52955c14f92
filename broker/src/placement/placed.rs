//! Nodes for ranks, and where ranks are.

use super::counts::slots;
use super::policy::Policy;
use topobroker_layout::set::Set;
use topobroker_reader::{Object, Topology};

/// The topology of a node for ranks, and its slots.
#[derive(Debug, Clone, Copy)]
pub struct Room<'a> {
    /// Its topology: the part that the job has of it.
    pub topology: Topology<'a>,
    /// How many ranks it takes if it is not oversubscribed; [`slots`](super::slots) by default.
    pub slots: Option<usize>,
}

impl Room<'_> {
    /// What its slots are called, and how many it has.
    pub(super) fn slots_for(&self, policy: &Policy) -> (&'static str, usize) {
        self.slots.map_or_else(|| slots(self.topology, policy), |given| ("slots", given))
    }
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
