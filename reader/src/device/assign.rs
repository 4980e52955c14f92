//! Deals devices to ranks. The result depends on the topology and the order of ranks only, so every
//! process that computes it has the same one.

use super::candidates::bus_id;
use super::near::{Nearness, farthest};
use super::path::PathClass;
use crate::object::Object;
use crate::topology::Topology;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

/// What a device of a rank should be near to.
#[derive(Debug, Clone, Copy)]
pub enum Beside<'a, 's> {
    /// The PUs that the rank is bound to; all PUs of the job if it is not bound.
    Pus(&'s Set),
    /// Another device, such as the GPU of the rank.
    Device(Object<'a>),
}

/// How good a device is for a rank, the best first: what is between them, the latency of memory, the
/// rate.
type Merit = (u8, u64, Reverse<u64>);

impl<'a> Topology<'a> {
    /// Deals devices to ranks: to each rank, in their order, `per_rank` of those that are best for it.
    /// The best are the nearest ones, then those of the least latency of memory, then those of the
    /// highest rate. Of devices that are equally good, a rank gets the ones that the fewest ranks
    /// have so far, then those of the lowest PCI bus id.
    ///
    /// Returns the devices of the first rank, then those of the second, and so on. If there are fewer
    /// devices than `per_rank`, each rank has all of them.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::{Beside, NicChoice, Object, Set};
    /// let nics: Vec<Object<'_>> = topology.nics(NicChoice::Active).collect();
    /// let ranks: Vec<Set> = topology.cpus().map(|pu| pu.cpuset().unwrap_or_default()).collect();
    /// let beside: Vec<Beside<'_, '_>> = ranks.iter().map(Beside::Pus).collect();
    /// for (rank, nic) in topology.assign(&nics, &beside, 1).iter().enumerate() {
    ///     println!("{rank} {}", nic.name().unwrap_or_default());
    /// }
    /// ```
    #[must_use]
    pub fn assign(
        self,
        devices: &[Object<'a>],
        ranks: &[Beside<'a, '_>],
        per_rank: usize,
    ) -> Vec<Object<'a>> {
        let mut devices = devices.to_vec();
        devices.sort_by_key(|device| (bus_id(*device), device.id()));
        let per_rank = per_rank.min(devices.len());
        let places = Places::new(self, &devices);
        let mut loads = vec![0_u32; devices.len()];
        let mut merits: Vec<(Merit, u32, usize)> = Vec::with_capacity(devices.len());
        let mut given = Vec::with_capacity(ranks.len().saturating_mul(per_rank));
        for rank in ranks {
            merits.clear();
            let merit = places.merits(*rank);
            let all = (0..).zip(&loads).zip(merit);
            merits.extend(all.map(|((device, load), merit)| (merit, *load, device)));
            merits.sort_unstable();
            for (_, _, device) in merits.iter().take(per_rank) {
                given.extend(devices.get(*device).copied());
                loads.get_mut(*device).into_iter().for_each(|load| *load += 1);
            }
        }
        given
    }
}

/// Devices, and what their merit is computed from.
struct Places<'a, 'd> {
    topology: Topology<'a>,
    devices: &'d [Object<'a>],
    /// The place and the rate of each device.
    of_devices: Vec<(usize, u64)>,
    /// Objects that devices are attached to, each once.
    places: Vec<Place<'a>>,
    /// PUs of the NUMA nodes.
    nodes: Vec<Set>,
}

/// An object that devices are attached to.
struct Place<'a> {
    local: Object<'a>,
    is_known: bool,
    pus: Set,
    pus_of_package: Set,
    /// From each NUMA node.
    latencies: Vec<Option<u64>>,
}

impl<'a, 'd> Places<'a, 'd> {
    fn new(topology: Topology<'a>, devices: &'d [Object<'a>]) -> Self {
        let nodes: Vec<Object<'a>> = topology.objects_with_type(ObjectType::NUMANode).collect();
        let pus = |object: Object<'a>| object.cpuset().unwrap_or_default();
        let mut places: Vec<Place<'a>> = Vec::new();
        let mut of_devices = Vec::with_capacity(devices.len());
        for device in devices {
            let local = device.non_io_ancestor();
            let known = places.iter().position(|place| place.local == local);
            let place = known.unwrap_or_else(|| {
                let package = local.ancestor_with_type(ObjectType::Package);
                places.push(Place {
                    local,
                    is_known: topology.has_place(*device),
                    pus: pus(local),
                    pus_of_package: package.map(pus).unwrap_or_default(),
                    latencies: nodes.iter().map(|it| topology.latency_from(*it, local)).collect(),
                });
                places.len() - 1
            });
            of_devices.push((place, device.link_mbps().unwrap_or(0)));
        }
        Self { topology, devices, of_devices, places, nodes: nodes.into_iter().map(pus).collect() }
    }

    /// The merit of each device for a rank.
    fn merits(&self, rank: Beside<'a, '_>) -> Vec<Merit> {
        match rank {
            Beside::Pus(set) => {
                let of_places: Vec<(u8, u64)> =
                    self.places.iter().map(|place| self.merit_of_place(place, set)).collect();
                let merit = |(place, rate): &(usize, u64)| {
                    let (nearness, latency) = of_places.get(*place).copied().unwrap_or_default();
                    (nearness, latency, Reverse(*rate))
                };
                self.of_devices.iter().map(merit).collect()
            }
            Beside::Device(other) => {
                let all = self.devices.iter().zip(&self.of_devices);
                let merit = |(device, (_, rate)): (&Object<'a>, &(usize, u64))| {
                    let class: PathClass = self.topology.path_class(*device, other);
                    (class as u8, 0, Reverse(*rate))
                };
                all.map(merit).collect()
            }
        }
    }

    fn merit_of_place(&self, place: &Place<'a>, set: &Set) -> (u8, u64) {
        let nearness = Nearness::of(
            place.is_known,
            || !set.is_empty() && set.is_included_in(&place.pus),
            || set.intersects(&place.pus),
            || set.intersects(&place.pus_of_package),
        );
        let nodes = self.nodes.iter().zip(&place.latencies);
        let latency = farthest(nodes.filter(|(node, _)| node.intersects(set)).map(|(_, it)| *it));
        (nearness as u8, latency.unwrap_or(u64::MAX))
    }
}
