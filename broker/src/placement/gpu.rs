//! Ranks at GPUs: mapped to one in turn, or bound to the PUs near the one that they will be given.

use topobroker_layout::set::Set;
use topobroker_reader::{Object, Topology, devices::Beside};

/// The GPUs of a topology, and the PUs near each of them.
pub(super) struct Gpus<'a> {
    topology: Topology<'a>,
    all: Vec<Object<'a>>,
}

impl<'a> Gpus<'a> {
    pub(super) fn of(topology: Topology<'a>) -> Self {
        Self { topology, all: topology.gpus().collect() }
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// The PUs near the GPU that is next in turn; all PUs if its place is not known.
    pub(super) fn in_turn(&self, rank: usize) -> Set {
        let gpu = rank.checked_rem(self.all.len()).and_then(|place| self.all.get(place));
        gpu.map(|gpu| self.near(*gpu)).unwrap_or_default()
    }

    /// The PUs near the GPU that each rank will be given if it is mapped to these PUs.
    pub(super) fn near_those_of(&self, mapped: &[Set]) -> Vec<Set> {
        let ranks: Vec<Beside<'_, '_>> = mapped.iter().map(Beside::Pus).collect();
        let given = self.topology.assign(&self.all, &ranks, 1);
        given.into_iter().map(|gpu| self.near(gpu)).collect()
    }

    fn near(&self, gpu: Object<'a>) -> Set {
        let all = self.topology.root().cpuset().unwrap_or_default();
        let near = &gpu.non_io_ancestor().cpuset().unwrap_or_default() & &all;
        if near.is_empty() { all } else { near }
    }
}
