//! Deals devices to ranks. The result depends on the topology and the order of ranks only, so every
//! process that computes it has the same one.

use super::candidates::NicChoice;
use super::near::{Nearness, farthest};
use super::spread::{Alike, Cost, spread};
use crate::object::Object;
use crate::topology::Topology;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use topobroker_layout::attributes::{BusId, OsDeviceKind};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

/// What a device of a rank should be near to.
#[derive(Debug, Clone, Copy)]
pub enum NearTo<'a, 's> {
    /// The PUs that the rank is bound to; all PUs of the job if it is not bound.
    Pus(&'s Set),
    /// Another device, such as the GPU of the rank.
    Device(Object<'a>),
}

/// Kinds of devices that ranks are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankDevice {
    /// A NIC of the network that ranks should use first.
    Nic,
    /// A GPU.
    Gpu,
}

/// How far a device is from a rank: what is between it and the device that it should be near, the
/// nearness to the PUs, the latency of memory. They are the digits of one number, so that sums have
/// the same order.
type Distance = Cost;

impl<'a> Topology<'a> {
    /// Deals devices to ranks: to each rank, in their order, `per_rank` of those that are best for
    /// it.
    ///
    /// The nearest ones are the best: those with the least between them and the device that they
    /// should be near, then those nearest to the PUs, then those of the least latency of memory.
    ///
    /// NICs are shared: a rank gets the nearest ones; of equally near ones those of the highest
    /// rate, then those that the fewest ranks have so far. Ranks that a NIC is local to have their
    /// turn before all others, so that a rank to which all are equal does not take the only one of
    /// another.
    ///
    /// GPUs, and other devices, are not: ranks share one only if there are more ranks than devices,
    /// and then evenly. Of all such ways, ranks get the devices with which they are the nearest to
    /// all theirs together; of ranks that are alike, the first ones have the nearest, then those of
    /// the lowest bus ids. A GPU with MIG instances counts as many as it has instances. If a rank
    /// gets several, these are the nearest of those that the fewest ranks have, and then those that
    /// have the most bandwidth to its first ones and the least between.
    ///
    /// Returns the devices of the first rank, then those of the second, and so on. If there are
    /// fewer devices than `per_rank`, each rank has all of them.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::{devices::{NearTo, NicChoice}, Object, ObjectType, Set};
    /// let nics: Vec<Object<'_>> = topology.nics(NicChoice::Active).collect();
    /// let cores = topology.objects_with_type(ObjectType::Core);
    /// let ranks: Vec<Set> = cores.filter_map(Object::cpuset).collect();
    /// let near: Vec<NearTo<'_, '_>> = ranks.iter().map(NearTo::Pus).collect();
    /// for (rank, nic) in topology.assign(&nics, &near, 1).iter().enumerate() {
    ///     println!("{rank} {}", nic.name().unwrap_or_default());
    /// }
    /// ```
    #[must_use]
    pub fn assign(
        self,
        devices: &[Object<'a>],
        ranks: &[NearTo<'a, '_>],
        per_rank: usize,
    ) -> Vec<Object<'a>> {
        let per_rank = per_rank.min(devices.len());
        let mut dealer = Dealer::new(self, devices);
        if per_rank == 1 && !dealer.is_shared {
            return dealer.spread(ranks);
        }
        let mut given: Vec<Option<Object<'a>>> = vec![None; ranks.len().saturating_mul(per_rank)];
        for is_first_turn in [true, false] {
            for (rank, own) in ranks.iter().zip(given.chunks_mut(per_rank.max(1))) {
                if own.first().is_some_and(Option::is_some) {
                    continue;
                }
                dealer.weigh(*rank);
                if dealer.has_local() || !is_first_turn {
                    own.iter_mut().for_each(|device| *device = dealer.next());
                }
            }
        }
        given.into_iter().flatten().collect()
    }

    /// The NIC or GPU that is best for a process that is bound to some PUs, if no other process
    /// counts. `None` if there is none: no NIC that is known to be active, or no GPU.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::devices::RankDevice;
    /// let pus = topobroker_reader::jobs::affinity().unwrap();
    /// let nic = topology.nearest(&pus, RankDevice::Nic);
    /// println!("{:?}", nic.and_then(|nic| nic.name()));
    /// ```
    #[must_use]
    pub fn nearest(self, pus: &Set, device: RankDevice) -> Option<Object<'a>> {
        let devices: Vec<Object<'a>> = match device {
            RankDevice::Nic => {
                let network = self.network_shares(NicChoice::Active).next()?;
                self.nics_of_network(NicChoice::Active, network.id).collect()
            }
            RankDevice::Gpu => self.gpus().collect(),
        };
        self.assign(&devices, &[NearTo::Pus(pus)], 1).first().copied()
    }
}

/// Devices to deal, and what their merit is computed from.
struct Dealer<'a> {
    topology: Topology<'a>,
    /// Whether ranks may share a device while another one is idle: NICs.
    is_shared: bool,
    /// In the order of bus ids.
    candidates: Vec<Candidate<'a>>,
    /// Objects that devices are attached to, each once.
    places: Vec<Attachment<'a>>,
    /// Distinct sets of PUs of places, packages and NUMA nodes.
    regions: Vec<Region>,
    /// The region of each NUMA node.
    nodes: Vec<usize>,
    /// The NUMA nodes of the rank whose turn it is.
    own_nodes: Vec<usize>,
    /// Whether the distances of the places are those for what ranks have of the regions.
    is_weighed: bool,
}

struct Candidate<'a> {
    device: Object<'a>,
    place: usize,
    rate: u64,
    /// How many ranks can have a part of it that no other one has.
    parts: usize,
    /// Number of ranks that have it.
    load: usize,
    /// From the rank whose turn it is.
    distance: Distance,
    /// Whether that rank has it.
    is_given: bool,
}

/// An object that devices are attached to.
struct Attachment<'a> {
    local: Object<'a>,
    is_known: bool,
    region: usize,
    package: Option<usize>,
    /// From each NUMA node.
    latencies: Vec<Option<u64>>,
    /// For the rank whose turn it is.
    distance: (Nearness, u64),
}

struct Region {
    pus: Set,
    /// What the rank whose turn it is has of it.
    has: Has,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Has {
    Nothing,
    Some,
    /// All PUs of the rank are in it.
    All,
}

impl<'a> Dealer<'a> {
    fn new(topology: Topology<'a>, devices: &[Object<'a>]) -> Self {
        let all_nodes = || topology.objects_with_type(ObjectType::NUMANode);
        let mut regions: Vec<Region> = Vec::new();
        let mut region = |object: Object<'a>| {
            let pus = object.cpuset().unwrap_or_default();
            let known = regions.iter().position(|region| region.pus == pus);
            known.unwrap_or_else(|| {
                regions.push(Region { pus, has: Has::Nothing });
                regions.len() - 1
            })
        };
        let mut places: Vec<Attachment<'a>> = Vec::new();
        let mut devices = devices.to_vec();
        devices.sort_by_key(|it| (it.bus_id().unwrap_or(BusId::LAST), it.id()));
        let mut candidates = Vec::with_capacity(devices.len());
        for device in &devices {
            let local = device.non_io_ancestor();
            let known = places.iter().position(|place| place.local == local);
            let place = known.unwrap_or_else(|| {
                places.push(Attachment {
                    local,
                    is_known: topology.has_place(*device),
                    region: region(local),
                    package: local.ancestor_with_type(ObjectType::Package).map(&mut region),
                    latencies: all_nodes().map(topology.latency_to(local)).collect(),
                    distance: (Nearness::Unknown, 0),
                });
                places.len() - 1
            });
            candidates.push(Candidate {
                device: *device,
                place,
                rate: device.link_mbps().unwrap_or(0),
                parts: device.mig_instances().count().max(1),
                load: 0,
                distance: 0,
                is_given: false,
            });
        }
        let nodes = all_nodes().map(&mut region).collect();
        let is_shared =
            devices.iter().filter_map(|it| it.os_device_kind()).any(OsDeviceKind::is_network);
        Self {
            topology,
            is_shared,
            candidates,
            places,
            regions,
            nodes,
            own_nodes: Vec::new(),
            is_weighed: false,
        }
    }

    /// Finds out how good each device is for a rank, which has its turn now.
    fn weigh(&mut self, rank: NearTo<'a, '_>) {
        match rank {
            NearTo::Pus(set) => self.weigh_places(set),
            NearTo::Device(other) => {
                let pus = other.non_io_ancestor().cpuset().unwrap_or_default();
                self.weigh_places(&pus);
            }
        }
        for it in &mut self.candidates {
            let class = match rank {
                NearTo::Pus(_) => 0,
                NearTo::Device(other) => self.topology.path_class(it.device, other) as u8,
            };
            let place = self.places.get(it.place).map(|place| place.distance);
            let (nearness, latency) = place.unwrap_or((Nearness::Unknown, 0));
            let latency = u32::try_from(latency).unwrap_or(u32::MAX);
            (it.distance, it.is_given) = (distance(class, nearness, latency), false);
        }
    }

    fn weigh_places(&mut self, set: &Set) {
        let mut is_as_before = true;
        for region in &mut self.regions {
            let has = match () {
                () if !region.pus.intersects(set) => Has::Nothing,
                () if set.is_included_in(&region.pus) => Has::All,
                () => Has::Some,
            };
            is_as_before &= region.has == has;
            region.has = has;
        }
        // Ranks that follow each other are often alike.
        if is_as_before && self.is_weighed {
            return;
        }
        self.is_weighed = true;
        let is_hit = |region: &usize| {
            self.regions.get(*region).is_some_and(|region| region.has != Has::Nothing)
        };
        let nodes = self.nodes.iter().enumerate().filter(|(_, region)| is_hit(region));
        self.own_nodes.clear();
        self.own_nodes.extend(nodes.map(|(node, _)| node));
        for place in &mut self.places {
            place.distance = place.weigh(&self.regions, &self.own_nodes);
        }
    }

    /// Whether a device is local to the rank that has its turn.
    fn has_local(&self) -> bool {
        self.places.iter().any(|place| place.distance.0 == Nearness::Near)
    }

    /// Gives the rank that has its turn the best device that it does not have.
    fn next(&mut self) -> Option<Object<'a>> {
        let own = || self.candidates.iter().filter(|it| it.is_given).map(|it| it.device);
        let apart = |device: Object<'a>| {
            let between = own().map(|other| self.topology.path_class(device, other) as u32);
            let bandwidth = own().map(|other| self.topology.link_bandwidth(device, other));
            (Reverse(bandwidth.fold(0, u64::saturating_add)), between.sum::<u32>())
        };
        let left = self.candidates.iter().enumerate().filter(|(_, it)| !it.is_given);
        let (best, _) = match self.is_shared {
            true => left.min_by_key(|(_, it)| (it.distance, Reverse(it.rate), it.load)),
            false => left.min_by_key(|(_, it)| (it.load / it.parts, apart(it.device), it.distance)),
        }?;
        let best = self.candidates.get_mut(best)?;
        (best.load, best.is_given) = (best.load + 1, true);
        Some(best.device)
    }

    /// Gives each rank one device.
    fn spread(mut self, ranks: &[NearTo<'a, '_>]) -> Vec<Object<'a>> {
        let mut groups: Vec<Alike> = Vec::new();
        for (rank, near) in ranks.iter().enumerate() {
            self.weigh(*near);
            let costs = || self.candidates.iter().map(|it| it.distance);
            let known = groups.iter().rposition(|group| group.costs.iter().copied().eq(costs()));
            let group = known.unwrap_or_else(|| {
                groups.push(Alike::new(costs().collect()));
                groups.len() - 1
            });
            groups.get_mut(group).into_iter().for_each(|group| group.ranks.push(rank));
        }
        let parts: Vec<usize> = self.candidates.iter().map(|it| it.parts).collect();
        spread(&mut groups, &parts);
        let mut given: Vec<(usize, usize)> = groups.iter().flat_map(Alike::dealt).collect();
        given.sort_unstable();
        let device = |(_, device): (usize, usize)| self.candidates.get(device).map(|it| it.device);
        given.into_iter().filter_map(device).collect()
    }
}

/// The sum of as many distances as a job may have ranks has no carry from one of the three to the
/// next.
fn distance(class: u8, nearness: Nearness, latency: u32) -> Distance {
    Distance::from(class) << 80 | Distance::from(nearness as u8) << 56 | Distance::from(latency)
}

impl Attachment<'_> {
    fn weigh(&self, regions: &[Region], own_nodes: &[usize]) -> (Nearness, u64) {
        let has = |region: usize| regions.get(region).map_or(Has::Nothing, |region| region.has);
        let nearness = Nearness::of(
            self.is_known,
            || has(self.region) == Has::All,
            || has(self.region) == Has::Some,
            || self.package.is_some_and(|package| has(package) != Has::Nothing),
        );
        let from = own_nodes.iter().map(|node| self.latencies.get(*node).copied().flatten());
        (nearness, farthest(from).unwrap_or(u64::MAX))
    }
}
