//! Levels, distances, memory attributes and CPU kinds, and a whole topology.

use super::object::{Pair, Set, ShortObject, Tree};
use serde::Serialize;
use topobroker_reader::{self as reader, Depth, Initiator};

/// A whole topology.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Topology<'a> {
    root: Tree<'a>,
    levels: Vec<Level>,
    distances: Vec<Matrix<'a>>,
    memory_attributes: Vec<MemoryAttribute<'a>>,
    cpu_kinds: Vec<CpuKind<'a>>,
}

/// The objects at a depth.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Level {
    depth: i32,
    r#type: String,
    count: usize,
}

/// A matrix of distances.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Matrix<'a> {
    name: Option<&'a str>,
    /// `hwloc_distances_kind_e`.
    kind: u64,
    objects: Vec<ShortObject>,
    /// From the object of the row to that of the column.
    values: Vec<Vec<Option<u64>>>,
}

/// A memory attribute with its values.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MemoryAttribute<'a> {
    name: &'a str,
    flags: u64,
    values: Vec<MemoryValue>,
}

/// A value of a memory attribute. Of the initiators at most one is there.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct MemoryValue {
    target: ShortObject,
    initiator_cpuset: Option<Set>,
    initiator_object: Option<ShortObject>,
    value: u64,
}

/// A kind of CPUs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CpuKind<'a> {
    cpuset: Set,
    efficiency: Option<u32>,
    infos: Vec<Pair<'a>>,
}

impl<'a> From<reader::Topology<'a>> for Topology<'a> {
    fn from(topology: reader::Topology<'a>) -> Self {
        Self {
            root: topology.root().into(),
            levels: levels(topology),
            distances: distances(topology),
            memory_attributes: memory_attributes(topology),
            cpu_kinds: cpu_kinds(topology),
        }
    }
}

/// The levels, from the top, then the special ones.
pub(crate) fn levels(topology: reader::Topology<'_>) -> Vec<Level> {
    let normal = (0..topology.depth()).map(Depth::Normal);
    let special = (-8..=-3).rev().filter_map(Depth::from_raw);
    let level = |depth: Depth| {
        let mut objects = topology.objects_at_depth(depth);
        let count = objects.len();
        let r#type = objects.next()?.type_name(true).to_string();
        Some(Level { depth: depth.raw(), r#type, count })
    };
    normal.chain(special).filter_map(level).collect()
}

/// The matrices of distances.
pub(crate) fn distances(topology: reader::Topology<'_>) -> Vec<Matrix<'_>> {
    let matrix = |distances: reader::Distances<'_>| {
        let count = distances.objects().count();
        let row = |from| (0..count).map(|to| distances.value(from, to)).collect();
        (distances.objects().map(ShortObject::from).collect(), (0..count).map(row).collect())
    };
    let matrices = topology.distances().map(|distances| {
        let (objects, values) = matrix(distances);
        Matrix { name: distances.name(), kind: distances.kind(), objects, values }
    });
    matrices.collect()
}

/// Memory attributes with their values.
pub(crate) fn memory_attributes(topology: reader::Topology<'_>) -> Vec<MemoryAttribute<'_>> {
    let value = |value: reader::MemoryValue<'_>| MemoryValue {
        target: value.target.into(),
        initiator_cpuset: match &value.initiator {
            Initiator::Cpuset(cpuset) => Some(cpuset.into()),
            _ => None,
        },
        initiator_object: match value.initiator {
            Initiator::Object(object) => Some(object.into()),
            _ => None,
        },
        value: value.value,
    };
    let attributes = topology.memory_attributes().map(|attribute| MemoryAttribute {
        name: attribute.name(),
        flags: attribute.flags(),
        values: attribute.values().map(value).collect(),
    });
    attributes.collect()
}

/// CPU kinds, the least efficient first.
pub(crate) fn cpu_kinds(topology: reader::Topology<'_>) -> Vec<CpuKind<'_>> {
    let kinds = topology.cpu_kinds().map(|kind| CpuKind {
        cpuset: kind.cpuset().into(),
        efficiency: kind.efficiency(),
        infos: kind.infos().map(Pair::from).collect(),
    });
    kinds.collect()
}
