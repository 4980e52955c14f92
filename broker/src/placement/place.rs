//! Places the ranks of a job on the PUs of a node.

use super::counts::ranks_and_objects;
use super::devices::near_gpus;
use super::error::PlacementError;
use super::mpirun4::place_part;
use super::placed::{PlacedRank, Room};
use super::policy::{BindTo, MapBy, Policy, Resource, Rules};
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
    if policy.bind == BindTo::Gpu {
        return at_gpus(topology, policy, ranks, order);
    }
    let is_mpirun = policy.rules == Rules::Mpirun4 && !policy.is_by_devices();
    if is_mpirun || policy.map == MapBy::CpuList {
        let bound = policy.with_usual_binding(count, mapped);
        let sets = place_part(topology, policy, &bound, ranks, order)?.into_iter();
        return Ok(sets
            .map(|cpuset| PlacedRank { node: 0, cpuset, devices: Vec::new() })
            .collect());
    }
    on_one(topology, policy, ranks)
}

/// Binds each rank to the PUs near its GPU: the GPU that it is mapped to or, if it is not mapped by
/// GPU, the one that it is dealt.
fn at_gpus<'a>(
    topology: Topology<'a>,
    policy: &Policy,
    ranks: usize,
    order: &[Object<'_>],
) -> Result<Vec<PlacedRank<'a>>, PlacementError> {
    let bind = match policy.map {
        MapBy::Object(kind) | MapBy::Ppr(_, Resource::Object(kind)) => BindTo::Object(kind),
        _ => BindTo::None,
    };
    let mapped = match policy.is_by_devices() {
        true => on_one(topology, policy, ranks)?,
        false => {
            let policy = Policy { bind, overload: true, ..policy.clone() };
            place(topology, &policy, Some(ranks), order)?
        }
    };
    let gpus: Vec<Object<'a>> = topology.gpus().collect();
    let has_gpus = |it: &PlacedRank<'a>| it.devices.iter().all(|device| gpus.contains(device));
    if policy.is_by_devices() && mapped.iter().all(has_gpus) {
        return Ok(mapped);
    }
    let all = topology.root().cpuset().unwrap_or_default();
    let mapped = mapped.into_iter().map(|it| it.cpuset.unwrap_or_else(|| all.clone()));
    let given = near_gpus(topology, &mapped.collect::<Vec<Set>>())?.into_iter();
    let placed = |(gpu, near)| PlacedRank { node: 0, cpuset: Some(near), devices: vec![gpu] };
    Ok(given.map(placed).collect())
}

fn on_one<'a>(
    topology: Topology<'a>,
    policy: &Policy,
    ranks: usize,
) -> Result<Vec<PlacedRank<'a>>, PlacementError> {
    place_on(&[Room { topology, slots: None }], policy, Some(ranks)).map_err(|(_, error)| error)
}
