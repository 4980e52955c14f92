//! Ranks as PRRTE maps, binds and numbers them, which Open MPI 5 and 6 come with: on one node or
//! several.

mod cpus;
mod numbering;
mod targets;

use super::counts::usual_count;
use super::error::PlacementError;
use super::objects::has_cores;
use super::placed::{PlacedRank, Room};
use super::policy::{BindTo, DeviceMap, MapBy, Policy, Resource, Rules, name_of};
use cpus::Cpus;
use numbering::Place;
use targets::Target;
use topobroker_layout::job::MAX_RANKS;
use topobroker_reader::ObjectType;

/// Places `count` ranks on nodes, in the order of the ranks. By default there are as many as the
/// nodes have slots, if these are given and the policy is not `ppr`, otherwise as many as the policy
/// makes ([`usual_count`](super::usual_count)).
///
/// # Errors
///
/// The place of the node on which it fails, if it is one, and the error.
pub fn place_on<'a>(
    rooms: &[Room<'a>],
    policy: &Policy,
    count: Option<usize>,
) -> Result<Vec<PlacedRank<'a>>, (Option<usize>, PlacementError)> {
    if policy.map == MapBy::CpuList || (policy.bind == BindTo::Gpu && !policy.is_by_devices()) {
        let policy = policy.to_string();
        return Err((None, PlacementError::OneNode { policy }));
    }
    let has_own_count = matches!(policy.map, MapBy::Ppr(..));
    let usual = |room: &Room<'_>| match room.slots.filter(|_| !has_own_count) {
        Some(slots) => slots,
        None => usual_count(room.topology, policy, &[]),
    };
    let count = count.unwrap_or_else(|| rooms.iter().map(usual).sum());
    if count > MAX_RANKS.saturating_mul(rooms.len()) {
        let (policy, expected) = (policy.to_string(), MAX_RANKS.saturating_mul(rooms.len()));
        return Err((None, PlacementError::TooMany { ranks: count, policy, expected }));
    }
    let has_cores = |room: &Room<'_>| has_cores(room.topology);
    let bind = match policy.binding_of_prrte(count) {
        BindTo::Object(_) if policy.bind == BindTo::Usual && !rooms.iter().all(has_cores) => {
            BindTo::None
        }
        bind => bind,
    };
    check(policy, bind).map_err(|error| (None, error))?;
    let nodes = rooms.iter().enumerate().map(|(number, room)| {
        Node::new(*room, policy, bind).map_err(|error| (Some(number), error))
    });
    let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
    let mut mapper = Mapper { nodes, policy, bind, left: count, places: Vec::with_capacity(count) };
    let all_slots: usize = mapper.nodes.iter().map(|node| node.slots).sum();
    if count > all_slots && !policy.oversubscribe {
        let name = rooms.first().map_or("slots", |room| room.slots_for(policy).0);
        return Err((
            None,
            PlacementError::Oversubscribed { ranks: count, name, expected: all_slots },
        ));
    }
    match &policy.map {
        MapBy::Slot => mapper.fill(),
        MapBy::Node => mapper.even(),
        MapBy::Ppr(each, _) => mapper.each(*each),
        _ => mapper.over_targets(),
    }?;
    if mapper.left > 0 {
        let (ranks, expected) = (count, count - mapper.left);
        let is_limited =
            matches!(policy.map, MapBy::Ppr(..) | MapBy::Device(DeviceMap { shared: false, .. }));
        let error = match is_limited || bind == BindTo::None {
            true => PlacementError::TooMany { ranks, policy: policy.to_string(), expected },
            false => PlacementError::NoCpus { ranks, expected },
        };
        return Err((None, error));
    }
    let places = numbering::in_order_of_ranks(mapper.places, policy);
    Ok(places.into_iter().map(|place| place.rank).collect())
}

/// What PRRTE refuses whatever the nodes are.
fn check(policy: &Policy, bind: BindTo) -> Result<(), PlacementError> {
    if let MapBy::Object(kind @ (ObjectType::Core | ObjectType::PU)) = policy.map
        && policy.cpus > 1
        && !(kind == ObjectType::Core && policy.threads)
    {
        let map_by = name_of(kind);
        return Err(PlacementError::MapsTooLow { map_by, expected: policy.cpus });
    }
    let mapped = match policy.map {
        MapBy::Object(kind) | MapBy::Ppr(_, Resource::Object(kind)) => Some(kind),
        _ => None,
    };
    if let (Some(mapped), BindTo::Object(bound)) = (mapped, bind)
        && depth(mapped) > depth(bound)
    {
        let (map_by, bind_to) = (name_of(mapped), name_of(bound));
        return Err(PlacementError::BindsUpwards { map_by, bind_to });
    }
    numbering::check(policy)
}

/// The place of a type in PRRTE's order, the widest first.
fn depth(kind: ObjectType) -> Option<usize> {
    const ORDER: [ObjectType; 8] = [
        ObjectType::Machine,
        ObjectType::Package,
        ObjectType::NUMANode,
        ObjectType::L3Cache,
        ObjectType::L2Cache,
        ObjectType::L1Cache,
        ObjectType::Core,
        ObjectType::PU,
    ];
    ORDER.iter().position(|it| *it == kind)
}

/// A node, and what is left of it.
struct Node<'a> {
    slots: usize,
    ranks: usize,
    cpus: Cpus,
    targets: Vec<Target<'a>>,
}

impl<'a> Node<'a> {
    fn new(room: Room<'a>, policy: &Policy, bind: BindTo) -> Result<Self, PlacementError> {
        let topology = room.topology;
        let slots = room.slots_for(policy).1;
        let cpus = Cpus::new(topology, policy, bind)?;
        let targets = targets::of(topology, policy, bind)?;
        Ok(Self { slots, ranks: 0, cpus, targets })
    }
}

struct Mapper<'a, 'p> {
    nodes: Vec<Node<'a>>,
    policy: &'p Policy,
    bind: BindTo,
    /// Ranks that have no place yet.
    left: usize,
    places: Vec<Place<'a>>,
}

type Mapped = Result<(), (Option<usize>, PlacementError)>;

impl Mapper<'_, '_> {
    /// As many on each node as it has slots, then those that are left evenly.
    fn fill(&mut self) -> Mapped {
        for node in 0..self.nodes.len() {
            let room = self.nodes.get(node).map_or(0, |it| it.slots);
            self.place_some(node, room)?;
        }
        self.rest_evenly()
    }

    /// As many on each node.
    fn even(&mut self) -> Mapped {
        let nodes = self.nodes.len();
        for node in 0..nodes {
            let room = self.nodes.get(node).map_or(0, |it| it.slots);
            let own = self.left.div_ceil(nodes - node);
            self.place_some(node, if self.policy.oversubscribe { own } else { own.min(room) })?;
        }
        for node in 0..nodes {
            let room = self.nodes.get(node).map_or(0, |it| it.slots.saturating_sub(it.ranks));
            self.place_some(node, room)?;
        }
        self.rest_evenly()
    }

    /// Ranks for which there is no slot.
    fn rest_evenly(&mut self) -> Mapped {
        let nodes = self.nodes.len();
        for node in 0..if self.policy.oversubscribe { nodes } else { 0 } {
            self.place_some(node, self.left.div_ceil(nodes - node))?;
        }
        Ok(())
    }

    /// Up to `most` ranks on a node as a whole.
    fn place_some(&mut self, node: usize, most: usize) -> Mapped {
        for _ in 0..most.min(self.left) {
            if !self.has_room(node, 0, 1) {
                break;
            }
            self.place(node, 0)?;
        }
        Ok(())
    }

    /// This many on each target that has the CPUs for so many.
    fn each(&mut self, each: usize) -> Mapped {
        for node in 0..self.nodes.len() {
            for target in 0..self.nodes.get(node).map_or(0, |it| it.targets.len()) {
                // PRRTE 3 leaves ranks for which there is no CPU unbound.
                if self.policy.rules != Rules::Prrte3 && !self.has_room(node, target, each) {
                    continue;
                }
                for _ in 0..each.min(self.left) {
                    if !self.has_slot(node, self.policy.oversubscribe) {
                        break;
                    }
                    self.place(node, target)?;
                }
            }
        }
        Ok(())
    }

    /// A rank on each target of a node, again and again until it is full, then on the next node;
    /// with `SPAN` on each target of all nodes before the first one has the second.
    fn over_targets(&mut self) -> Mapped {
        let is_once = matches!(self.policy.map, MapBy::Device(DeviceMap { shared: false, .. }));
        loop {
            let before = self.left;
            self.rounds(is_once)?;
            // More ranks than CPUs near the devices share these.
            let shares = self.bind == BindTo::Gpu && !is_once && self.left < before;
            if self.left == 0 || !shares {
                return Ok(());
            }
            self.nodes.iter_mut().for_each(|node| node.cpus.free_all());
        }
    }

    /// Rounds over all nodes, until no target has room.
    fn rounds(&mut self, is_once: bool) -> Mapped {
        let (mut is_beyond, mut is_placed) = (false, true);
        while self.left > 0 && (is_placed || !is_beyond) {
            is_beyond |= !is_placed;
            is_placed = false;
            for node in 0..self.nodes.len() {
                while self.left > 0 {
                    let (some, is_out_of_cpus) = self.round(node, is_beyond)?;
                    is_placed |= some;
                    if !some || is_out_of_cpus || is_once || is_beyond || self.policy.span {
                        break;
                    }
                }
            }
            if is_once || (!is_placed && !self.policy.oversubscribe) {
                break;
            }
        }
        Ok(())
    }

    /// A rank on each target of a node; one on that with the fewest ranks, if it has no slots left.
    /// Returns whether there are some, and whether a target had too few CPUs.
    fn round(
        &mut self,
        node: usize,
        is_beyond: bool,
    ) -> Result<(bool, bool), (Option<usize>, PlacementError)> {
        let (mut some, mut is_out_of_cpus) = (false, false);
        let targets = self.nodes.get(node).map_or(&[][..], |it| &it.targets);
        let mut order: Vec<usize> = (0..targets.len()).collect();
        if is_beyond {
            order.sort_by_key(|target| targets.get(*target).map(|it| it.ranks));
        }
        for target in order {
            if self.left == 0 || !self.has_slot(node, is_beyond) || (is_beyond && some) {
                break;
            }
            if !self.has_room(node, target, 1) {
                is_out_of_cpus = true;
                continue;
            }
            self.place(node, target)?;
            some = true;
        }
        Ok((some, is_out_of_cpus))
    }

    fn has_slot(&self, node: usize, is_beyond: bool) -> bool {
        let has = |it: &Node<'_>| it.ranks < it.slots;
        is_beyond || self.nodes.get(node).is_some_and(has)
    }

    /// Whether a target has the CPUs for so many more ranks.
    fn has_room(&mut self, node: usize, target: usize, ranks: usize) -> bool {
        if self.bind == BindTo::None || self.policy.overload {
            return true;
        }
        let Some(node) = self.nodes.get_mut(node) else { return false };
        let Some(target) = node.targets.get_mut(target) else { return false };
        node.cpus.has_room(target, self.policy.cpus, ranks)
    }

    fn place(&mut self, number: usize, target: usize) -> Mapped {
        let rank = self.places.len();
        let Some(node) = self.nodes.get_mut(number) else { return Ok(()) };
        let Some(own) = node.targets.get_mut(target) else { return Ok(()) };
        let cpuset = match self.bind {
            BindTo::None => Ok(None),
            bind => node.cpus.take(own, self.policy, bind, rank),
        };
        let cpuset = cpuset.map_err(|error| (Some(number), error))?;
        let rank = PlacedRank { node: number, cpuset, devices: own.devices.clone() };
        self.places.push(Place { on_node: node.ranks, target, on_target: own.ranks, rank });
        (node.ranks, own.ranks) = (node.ranks + 1, own.ranks + 1);
        self.left -= 1;
        Ok(())
    }
}
