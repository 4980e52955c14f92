//! Which NICs and GPUs the ranks of a job are given.

use crate::nics::NicFilter;
use topobroker_layout::job::DevicesOfRanks;
use topobroker_layout::set::Set;
use topobroker_reader::{
    Object, Topology, View,
    devices::{NearTo, NicChoice, device_number},
};

/// How many devices each rank of a job is given, and which: see [`Topology::assign`]. All ranks are
/// given NICs of one network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevicePolicy {
    /// NICs for each rank, out of all of the node: any PU can use them.
    pub nics_per_rank: u32,
    /// GPUs for each rank, out of all of the node too: the nearest ones are in the job's part, if
    /// it has any.
    pub gpus_per_rank: u32,
    /// Which NICs are dealt.
    pub nics: NicChoice,
    /// The network and the names of these NICs; by default those that the site of the topology
    /// says, otherwise the best network ([`Topology::networks`]), and all of its NICs.
    pub site: NicFilter,
    /// Whether the NICs of a rank are to be near its first GPU, and not near its PUs.
    pub nics_near_gpu: bool,
    /// The ids of the GPUs that the ranks are mapped by, as many for each, which they are given
    /// then. Otherwise empty.
    pub mapped_gpus: Vec<u32>,
}

impl Default for DevicePolicy {
    /// One of each, NICs that are known to be active, near the PUs of the rank.
    fn default() -> Self {
        Self {
            nics_per_rank: 1,
            gpus_per_rank: 1,
            nics: NicChoice::Active,
            site: NicFilter::default(),
            nics_near_gpu: false,
            mapped_gpus: Vec::new(),
        }
    }
}

impl DevicePolicy {
    /// The NICs and the GPUs of ranks with these PUs.
    pub(super) fn assign(
        &self,
        node: Topology<'_>,
        view: &View<'_>,
        ranks: &[(u32, Option<Set>)],
    ) -> (DevicesOfRanks, DevicesOfRanks) {
        let part = view.topology();
        let all = part.root().cpuset().unwrap_or_default();
        let pus: Vec<NearTo<'_, '_>> =
            ranks.iter().map(|(_, set)| NearTo::Pus(set.as_ref().unwrap_or(&all))).collect();
        let all_gpus: Vec<Object<'_>> = node.gpus().collect();
        let gpus = match self.mapped_gpus.len().checked_div(ranks.len()) {
            Some(per_rank) if per_rank > 0 && self.mapped_gpus.len() == per_rank * ranks.len() => {
                let by_id = |id: &u32| all_gpus.iter().copied().find(|gpu| gpu.id() == *id);
                let mapped: Option<Vec<_>> = self.mapped_gpus.iter().map(by_id).collect();
                let dealt = || Dealt::new(node, &all_gpus, &pus, self.gpus_per_rank);
                mapped.map_or_else(dealt, |devices| Dealt { per_rank, devices })
            }
            _ => Dealt::new(node, &all_gpus, &pus, self.gpus_per_rank),
        };
        let near = match self.nics_near_gpu && gpus.per_rank > 0 {
            true => gpus
                .devices
                .chunks(gpus.per_rank)
                .filter_map(|it| it.first())
                .map(|it| NearTo::Device(*it))
                .collect(),
            false => pus,
        };
        let network = self.site.network(node, self.nics);
        let nics = network.map(|network| network.nics).unwrap_or_default();
        let mut dealt = Dealt::new(node, &nics, &near, self.nics_per_rank);
        dealt.devices.iter_mut().for_each(|nic| *nic = self.site.on_rail(&nics, *nic));
        (dealt.packed(), gpus.packed())
    }
}

/// Devices that are dealt: as many for each rank.
struct Dealt<'a> {
    per_rank: usize,
    devices: Vec<Object<'a>>,
}

impl<'a> Dealt<'a> {
    fn new(
        node: Topology<'a>,
        devices: &[Object<'a>],
        ranks: &[NearTo<'a, '_>],
        per_rank: u32,
    ) -> Self {
        let per_rank = usize::try_from(per_rank).unwrap_or(usize::MAX).min(devices.len());
        Self { per_rank, devices: node.assign(devices, ranks, per_rank) }
    }

    fn packed(&self) -> DevicesOfRanks {
        let numbers = self.devices.iter().filter_map(|device| device_number(*device));
        let numbers: Vec<u32> = numbers.collect();
        DevicesOfRanks::pack(u32::try_from(self.per_rank).unwrap_or(0), &numbers)
    }
}
