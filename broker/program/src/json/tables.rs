//! Levels, distances, memory attributes and CPU kinds.

use super::json::{infos, set, short};
use serde_json::{Value, json};
use topobroker_reader::{Depth, Distances, Initiator, MemoryAttribute, Topology};

/// The levels, from the top, then the special ones.
pub(crate) fn levels(topology: Topology<'_>) -> Value {
    let normal = (0..topology.depth()).map(Depth::Normal);
    let special = (-8..=-3).rev().filter_map(Depth::from_raw);
    let level = |depth: Depth| {
        let mut objects = topology.objects_at_depth(depth);
        let count = objects.len();
        let first = objects.next()?;
        Some(json!({ "depth": depth.raw(), "type": first.type_name(true), "count": count }))
    };
    normal.chain(special).filter_map(level).collect()
}

/// The matrices of distances.
pub(crate) fn distances(topology: Topology<'_>) -> Value {
    let matrix = |distances: Distances<'_>| {
        let count = distances.objects().count();
        let row = |from| (0..count).map(|to| distances.value(from, to)).collect::<Vec<_>>();
        json!({
            "name": distances.name(),
            "kind": distances.kind(),
            "objects": distances.objects().map(short).collect::<Vec<_>>(),
            "values": (0..count).map(row).collect::<Vec<_>>(),
        })
    };
    topology.distances().map(matrix).collect()
}

/// Memory attributes with their values.
pub(crate) fn memory_attributes(topology: Topology<'_>) -> Value {
    let attribute = |attribute: MemoryAttribute<'_>| {
        let values = attribute.values().map(|value| {
            let (cpuset, object) = match &value.initiator {
                Initiator::None => (Value::Null, Value::Null),
                Initiator::Cpuset(cpuset) => (set(cpuset), Value::Null),
                Initiator::Object(object) => (Value::Null, short(*object)),
            };
            json!({
                "target": short(value.target),
                "initiator_cpuset": cpuset,
                "initiator_object": object,
                "value": value.value,
            })
        });
        json!({
            "name": attribute.name(),
            "flags": attribute.flags(),
            "values": values.collect::<Vec<_>>(),
        })
    };
    topology.memory_attributes().map(attribute).collect()
}

/// CPU kinds, the least efficient first.
pub(crate) fn cpu_kinds(topology: Topology<'_>) -> Value {
    let kinds = topology.cpu_kinds().map(|kind| {
        json!({
            "cpuset": set(&kind.cpuset()),
            "efficiency": kind.efficiency(),
            "infos": infos(kind.infos()),
        })
    });
    kinds.collect()
}
