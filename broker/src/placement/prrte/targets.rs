//! What ranks are mapped to on a node.

use super::super::devices::{groups, near};
use super::super::error::PlacementError;
use super::super::objects::{named, objects};
use super::super::policy::{BindTo, DeviceMap, MapBy, Policy, Resource, name_of};
use topobroker_layout::set::Set;
use topobroker_reader::{Object, ObjectType, Topology};

/// An object, the node, or devices.
pub(super) struct Target<'a> {
    /// Its PUs, or those near the devices.
    pub(super) cpuset: Set,
    pub(super) devices: Vec<Object<'a>>,
    pub(super) ranks: usize,
    /// Whether ranks of several CPUs are kept on one package: those that are mapped to no object.
    pub(super) is_node: bool,
    /// Its CPUs, once [`Cpus`](super::cpus::Cpus) has been asked for them, and which of them may be
    /// free.
    pub(super) cpus: Option<Vec<(usize, usize)>>,
    pub(super) next: usize,
    pub(super) round: usize,
}

impl<'a> Target<'a> {
    fn new(cpuset: Set, devices: Vec<Object<'a>>) -> Self {
        Self { cpuset, devices, ranks: 0, is_node: false, cpus: None, next: 0, round: 0 }
    }
}

pub(super) fn of<'a>(
    topology: Topology<'a>,
    policy: &Policy,
    bind: BindTo,
) -> Result<Vec<Target<'a>>, PlacementError> {
    match &policy.map {
        MapBy::Object(kind) | MapBy::Ppr(_, Resource::Object(kind)) => of_objects(topology, *kind),
        MapBy::Device(map) | MapBy::Ppr(_, Resource::Device(map)) => {
            of_devices(topology, map, bind)
        }
        MapBy::Slot | MapBy::Node | MapBy::Ppr(_, Resource::Node) | MapBy::CpuList => {
            let all = topology.root().cpuset().unwrap_or_default();
            Ok(vec![Target { is_node: true, ..Target::new(all, Vec::new()) }])
        }
    }
}

fn of_objects(topology: Topology<'_>, kind: ObjectType) -> Result<Vec<Target<'_>>, PlacementError> {
    let all = objects(topology, kind);
    if all.iter().any(|object| object.object_type() != kind) {
        let (option, name) = ("--map-by", name_of(kind));
        return Err(PlacementError::NoObjects { option, name, object: named(topology.root()) });
    }
    Ok(all.into_iter().filter_map(Object::cpuset).map(|set| Target::new(set, Vec::new())).collect())
}

fn of_devices<'a>(
    topology: Topology<'a>,
    map: &DeviceMap,
    bind: BindTo,
) -> Result<Vec<Target<'a>>, PlacementError> {
    let groups = groups(topology, map, "--map-by")?;
    let bound = match bind {
        BindTo::Object(kind) if !map.is_wide => objects(topology, kind),
        _ => Vec::new(),
    };
    let mut targets = Vec::with_capacity(groups.len());
    for group in groups {
        let cpuset = near(topology, &group);
        let is_wider = |it: &Object<'_>| {
            let own = it.cpuset().unwrap_or_default();
            own != cpuset && cpuset.is_included_in(&own)
        };
        if let Some(wider) = bound.iter().copied().find(is_wider) {
            let near = topology.covering(&cpuset).unwrap_or_else(|| topology.root());
            let (object, near) = (named(wider), named(near));
            return Err(PlacementError::Coarse { rank: targets.len(), object, near });
        }
        targets.push(Target::new(cpuset, group));
    }
    Ok(targets)
}
