//! Places the ranks of a job on the PUs of a node.

use super::counts::ranks_and_objects;
use super::devices::near_gpus;
use super::error::PlacementError;
use super::mpirun4::place_part;
use super::placed::{PlacedRank, Room};
use super::policy::{BindTo, Devices, MapBy, Policy, Resource, Rules};
use super::prrte::place_on;
use topobroker_layout::job::MAX_RANKS;
use topobroker_layout::set::Set;
use topobroker_reader::{Object, Topology};

/// Places `count` ranks on a topology, in the order of the ranks. If `count` is `None`, places
/// [`usual_count`](super::usual_count) ranks. `order` is the list of CPUs for [`MapBy::CpuList`].
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
