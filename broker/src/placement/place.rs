//! Places the ranks of a job on the PUs of a node.

use super::devices::{groups, near_gpus};
use super::error::PlacementError;
use super::mpirun4::place_part;
use super::objects::{has_cores, objects};
use super::policy::{BindTo, DeviceMap, Devices, MapBy, Policy, Resource, Rules};
use super::prrte::{PlacedRank, Room, place_on};
use topobroker_layout::job::MAX_RANKS;
use topobroker_layout::set::Set;
use topobroker_reader::{Object, ObjectType, Topology};

/// Places `count` ranks on a topology, in the order of the ranks. If `count` is `None`, places [`usual_count`]
/// ranks. `order` is the list of CPUs for [`MapBy::CpuList`].
///
/// ```
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../reader/tests/documentation/example_machine.rs"));
/// use topobroker::placement::{Policy, place};
/// let policy = Policy::parse("package", Some("core"))?;
/// for (rank, placed) in place(topology, &policy, Some(4), &[])?.iter().enumerate() {
///     println!("rank {rank}: {:?}", placed.cpuset);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`PlacementError`].
pub fn place<'a>(
    topology: Topology<'a>,
    policy: &Policy,
    count: Option<usize>,
    order: &[Object<'_>],
) -> Result<Vec<PlacedRank<'a>>, PlacementError> {
    let (usual, mapped) = ranks_and_objects(topology, policy, order);
    let ranks = count.unwrap_or(usual);
    if ranks > MAX_RANKS {
        let (policy, expected) = (policy.to_string(), MAX_RANKS);
        return Err(PlacementError::TooMany { ranks, policy, expected });
    }
    let is_by_devices = matches!(policy.map, MapBy::Device(_) | MapBy::Ppr(_, Resource::Device(_)));
    if policy.bind == BindTo::Gpu && !is_by_gpus(policy) {
        return at_gpus(topology, policy, ranks, order);
    }
    let is_mpirun = policy.rules == Rules::Mpirun4 && !is_by_devices;
    if is_mpirun || policy.map == MapBy::CpuList {
        let bound = policy.with_usual_binding(count, mapped);
        let sets = place_part(topology, policy, &bound, ranks, order)?.into_iter();
        return Ok(sets
            .map(|cpuset| PlacedRank { node: 0, cpuset, devices: Vec::new() })
            .collect());
    }
    place_on(&[Room { topology, slots: None }], policy, Some(ranks)).map_err(|(_, error)| error)
}

fn is_by_gpus(policy: &Policy) -> bool {
    match &policy.map {
        MapBy::Device(map) | MapBy::Ppr(_, Resource::Device(map)) => map.devices == Devices::Gpus,
        _ => false,
    }
}

/// Ranks that are bound to the PUs near the GPU that is dealt to them for the object that they are mapped to.
fn at_gpus<'a>(
    topology: Topology<'a>,
    policy: &Policy,
    ranks: usize,
    order: &[Object<'_>],
) -> Result<Vec<PlacedRank<'a>>, PlacementError> {
    let bind = match policy.map {
        MapBy::Object(_) | MapBy::Ppr(_, Resource::Object(_)) => BindTo::Usual,
        _ => BindTo::None,
    };
    let mapped = Policy { bind, overload: true, ..policy.clone() };
    let mapped = place(topology, &mapped, Some(ranks), order)?.into_iter();
    let all = topology.root().cpuset().unwrap_or_default();
    let mapped: Vec<Set> = mapped.map(|it| it.cpuset.unwrap_or_else(|| all.clone())).collect();
    let given = near_gpus(topology, &mapped)?.into_iter();
    let placed = |(gpu, near)| PlacedRank { node: 0, cpuset: Some(near), devices: vec![gpu] };
    Ok(given.map(placed).collect())
}

/// What the slots of a node are, and how many it has: its cores; its PUs, if ranks are mapped by or bound
/// to PUs, or if there are no cores.
#[must_use]
pub fn slots(topology: Topology<'_>, policy: &Policy) -> (&'static str, usize) {
    let by_threads = policy.map == MapBy::Object(ObjectType::PU)
        || policy.threads
        || policy.bind == BindTo::Object(ObjectType::PU)
        || !has_cores(topology);
    match by_threads {
        true => ("PUs", topology.root().cpuset_weight().unwrap_or(0) as usize),
        false => ("cores", objects(topology, ObjectType::Core).len()),
    }
}

/// Number of ranks that a policy makes if no number is given. `ppr:N:OBJECT` makes N for each
/// object. `slot` makes one for each core and `cpu-list` one for each CPU of `order`; with `PE=N`,
/// one for each N of them. Other policies make one for each object.
#[must_use]
pub fn usual_count(topology: Topology<'_>, policy: &Policy, order: &[Object<'_>]) -> usize {
    ranks_and_objects(topology, policy, order).0
}

/// Number of objects that ranks are mapped by. `order` is as in [`place`].
#[must_use]
pub fn mapped_count(topology: Topology<'_>, policy: &Policy, order: &[Object<'_>]) -> usize {
    ranks_and_objects(topology, policy, order).1
}

/// [`usual_count`] and [`mapped_count`].
fn ranks_and_objects(
    topology: Topology<'_>,
    policy: &Policy,
    order: &[Object<'_>],
) -> (usize, usize) {
    let each = policy.cpus.max(1);
    let objects_of = |kind| objects(topology, kind).len();
    let devices = |map: &DeviceMap| groups(topology, map, "--map-by").map_or(0, |it| it.len());
    let (ranks, mapped) = match &policy.map {
        MapBy::Object(kind) => (1, objects_of(*kind)),
        MapBy::Ppr(each, Resource::Node) => (*each, 1),
        MapBy::Ppr(each, Resource::Object(kind)) => (*each, objects_of(*kind)),
        MapBy::Ppr(each, Resource::Device(map)) => (*each, devices(map)),
        MapBy::Slot | MapBy::Node => (1, objects_of(ObjectType::Core) / each),
        MapBy::CpuList => (1, order.len() / each),
        MapBy::Device(map) => (1, devices(map)),
    };
    (mapped.saturating_mul(ranks), mapped)
}
