//! Turns an archive back into a description, so that it can be changed and archived again.

use std::collections::HashMap;
use topobroker_layout::description::{
    CpuKind, Description, Distances, Initiator, MemoryAttribute, MemoryValue, Object, Sets,
};
use topobroker_layout::object_type::ObjectType;
use topobroker_reader::{Initiator as ReadInitiator, Topology};

/// Describes an archived topology: the inverse of encoding a description.
#[must_use]
pub fn describe(topology: Topology<'_>) -> Description {
    let places: HashMap<u32, usize> = topology.objects().map(|it| it.id()).zip(0..).collect();
    let place = |object: topobroker_reader::Object<'_>| {
        places.get(&object.id()).copied().unwrap_or_default()
    };
    let objects = topology.objects().map(|it| object(it, place)).collect();
    let distances = topology.distances().map(|matrix| {
        let count = matrix.objects().count();
        let cells = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        Distances {
            name: matrix.name().map(str::to_owned),
            kind: matrix.kind(),
            objects: matrix.objects().map(place).collect(),
            values: cells.filter_map(|(from, to)| matrix.value(from, to)).collect(),
        }
    });
    let memory_attributes = topology.memory_attributes().map(|attribute| {
        let values = attribute.values().map(|value| MemoryValue {
            target: place(value.target),
            initiator: match value.initiator {
                ReadInitiator::None => Initiator::None,
                ReadInitiator::Cpuset(set) => Initiator::Cpuset(set),
                ReadInitiator::Object(object) => Initiator::Object(place(object)),
            },
            value: value.value,
        });
        MemoryAttribute {
            name: attribute.name().to_owned(),
            flags: attribute.flags(),
            values: if attribute.is_derived() { Vec::new() } else { values.collect() },
        }
    });
    let cpu_kinds = topology.cpu_kinds().map(|kind| CpuKind {
        cpuset: kind.cpuset(),
        efficiency: kind.efficiency(),
        forced_efficiency: kind.forced_efficiency(),
        infos: kind.infos().map(|info| (info.name.to_owned(), info.value.to_owned())).collect(),
    });
    Description {
        objects,
        allowed_cpuset: topology.allowed_cpuset(),
        allowed_nodeset: topology.allowed_nodeset(),
        distances: distances.collect(),
        memory_attributes: memory_attributes.collect(),
        cpu_kinds: cpu_kinds.collect(),
        flags: topology.flags(),
        is_this_system: topology.is_this_system(),
        type_filters: ObjectType::ALL.map(|kind| topology.type_filter(kind)).to_vec(),
        support: topology
            .support()
            .map(|(_, value)| u8::try_from(value).unwrap_or(u8::MAX))
            .collect(),
    }
}

fn object(
    object: topobroker_reader::Object<'_>,
    place: impl Fn(topobroker_reader::Object<'_>) -> usize,
) -> Object {
    let sets = object.cpuset().map(|cpuset| Sets {
        cpuset,
        complete_cpuset: object.complete_cpuset().unwrap_or_default(),
        nodeset: object.nodeset().unwrap_or_default(),
        complete_nodeset: object.complete_nodeset().unwrap_or_default(),
    });
    Object {
        object_type: object.object_type(),
        depth: object.depth(),
        logical_index: object.logical_index(),
        os_index: object.os_index(),
        gp_index: object.gp_index(),
        subtype: object.subtype().map(str::to_owned),
        name: object.name().map(str::to_owned),
        infos: object.infos().map(|info| (info.name.to_owned(), info.value.to_owned())).collect(),
        facts: object.facts().map(|fact| (fact.name.to_owned(), fact.value.to_owned())).collect(),
        attributes: object.attributes(),
        page_types: object.page_types().collect(),
        symmetric_subtree: object.is_symmetric_subtree(),
        sets,
        parent: object.parent().map(&place),
        children: object.all_children().map(&place).collect(),
    }
}
