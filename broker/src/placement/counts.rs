//! How many ranks nodes have slots for, and how many a policy makes.

use super::devices::groups;
use super::objects::{has_cores, objects};
use super::policy::{BindTo, DeviceMap, MapBy, Policy, Resource};
use topobroker_reader::{Object, ObjectType, Topology};

/// What the slots of a node are, and how many it has: its cores; its PUs, if ranks are mapped by or
/// bound to PUs, or if there are no cores.
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

/// Number of objects that ranks are mapped by. `order` is as in [`place`](super::place).
#[must_use]
pub fn mapped_count(topology: Topology<'_>, policy: &Policy, order: &[Object<'_>]) -> usize {
    ranks_and_objects(topology, policy, order).1
}

/// [`usual_count`] and [`mapped_count`].
pub(super) fn ranks_and_objects(
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
