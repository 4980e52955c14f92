//! Places the ranks of a job on PUs, as Open MPI's mapper and binder do.

use super::binder::Binder;
use super::device::Placed;
use super::error::PlacementError;
use super::locale::{Locale, devices, locales, objects};
use super::policy::{BindTo, Devices, MapBy, Policy};
use topobroker_layout::job::MAX_RANKS;
use topobroker_layout::set::Set;
use topobroker_reader::{Object, ObjectType, Topology};

/// Places `count` ranks on a topology, and returns the PUs of each rank by OS index; `None` for a
/// rank that is not bound. If `count` is `None`, places [`usual_count`] ranks.
///
/// If the topology has no objects of the type that ranks are mapped by, the root takes their place,
/// as in Open MPI. The ranks can then be bound to another type or to nothing, and `ppr:N:OBJECT` is
/// an error. `order` is the list of CPUs for [`MapBy::CpuList`].
///
/// ```
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../reader/tests/documentation/example_machine.rs"));
/// use topobroker::placement::{Policy, place};
/// let policy = Policy::parse("package", Some("core"))?;
/// for (rank, cpuset) in place(topology, &policy, Some(4), &[])?.iter().enumerate() {
///     println!("rank {rank}: {cpuset:?}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`PlacementError`].
pub fn place(
    topology: Topology<'_>,
    policy: &Policy,
    count: Option<usize>,
    order: &[Object<'_>],
) -> Result<Vec<Option<Set>>, PlacementError> {
    let (usual, mapped) = ranks_and_objects(topology, policy, order);
    let bound = policy.with_usual_binding(count, mapped);
    place_part(topology, policy, &bound, count.unwrap_or(usual), order)
}

/// [`place`] of ranks that are a part of a job over several nodes. `bound` is the policy with the binding
/// of the whole job ([`Policy::with_usual_binding`]).
///
/// # Errors
///
/// [`PlacementError`].
pub fn place_part(
    topology: Topology<'_>,
    policy: &Policy,
    bound: &Policy,
    count: usize,
    order: &[Object<'_>],
) -> Result<Vec<Option<Set>>, PlacementError> {
    if count > MAX_RANKS {
        let (policy, expected) = (policy.to_string(), MAX_RANKS);
        return Err(PlacementError::TooMany { ranks: count, policy, expected });
    }
    check_slots(topology, bound, count)?;
    match place_bound(topology, bound, count, order) {
        // Nobody asked for a binding, so if there are more ranks than CPUs, or no cores, they stay
        // unbound.
        Err(PlacementError::Overload { .. } | PlacementError::NoObjects { name: "core", .. })
            if policy.bind == BindTo::Usual =>
        {
            let unbound = Policy { bind: BindTo::None, ..bound.clone() };
            place_bound(topology, &unbound, count, order)
        }
        placed => placed,
    }
}

/// Checks that there are no more ranks than cores, which are the slots of a node. Ranks of a list of
/// CPUs and so many on each object are counted by themselves.
fn check_slots(
    topology: Topology<'_>,
    policy: &Policy,
    ranks: usize,
) -> Result<(), PlacementError> {
    if policy.oversubscribe || matches!(policy.map, MapBy::PerObject(..) | MapBy::CpuList) {
        return Ok(());
    }
    let (name, expected) = slots(topology, policy);
    match ranks <= expected || policy.overload {
        true => Ok(()),
        false => Err(PlacementError::Oversubscribed { ranks, name, expected }),
    }
}

/// What the slots of a node are, and how many it has: its cores; its PUs, if ranks are mapped by or bound
/// to PUs, or if there are no cores.
#[must_use]
pub fn slots(topology: Topology<'_>, policy: &Policy) -> (&'static str, usize) {
    let cores = objects(topology, ObjectType::Core);
    let by_threads = policy.map == MapBy::Object(ObjectType::PU)
        || policy.bind == BindTo::Object(ObjectType::PU)
        || cores.iter().any(|core| core.object_type() != ObjectType::Core);
    match by_threads {
        true => ("PUs", topology.root().cpuset_weight().unwrap_or(0) as usize),
        false => ("cores", cores.len()),
    }
}

fn place_bound(
    topology: Topology<'_>,
    policy: &Policy,
    count: usize,
    order: &[Object<'_>],
) -> Result<Vec<Option<Set>>, PlacementError> {
    let locales = locales(topology, policy, count, order)?;
    if policy.bind == BindTo::Gpu {
        let gpus = devices(topology, &Devices::Gpus, "--bind-to")?;
        let sets: Vec<Set> = locales.iter().map(Locale::pus).collect();
        // Ranks that are mapped to GPUs are on the PUs near theirs already.
        let is_near = matches!(policy.map, MapBy::Device { devices: Devices::Gpus, .. });
        let near = if is_near { sets } else { gpus.near_those_of(&sets) };
        return Ok(near.into_iter().map(Some).collect());
    }
    let mut binder = Binder::new(topology, policy);
    let places = locales.into_iter().enumerate();
    places.map(|(rank, locale)| binder.bind(rank, &locale)).collect()
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
    let (ranks, mapped) = match &policy.map {
        MapBy::Object(kind) => (1, objects(topology, *kind).len()),
        MapBy::PerObject(each, kind) => (*each, objects(topology, *kind).len()),
        MapBy::Slot => (1, objects(topology, ObjectType::Core).len() / each),
        MapBy::CpuList => (1, order.len() / each),
        MapBy::Device { devices, .. } => (1, Placed::of(topology, devices).count()),
    };
    (mapped.saturating_mul(ranks), mapped)
}
