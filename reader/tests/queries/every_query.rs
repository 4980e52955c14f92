//! Asks a topology every query. The tests that count allocations, the tests under Miri and the fuzz
//! targets share this; each checks something else besides.

use topobroker_reader::{
    Attributes, Depth, Distribution, Initiator, LocalNumaNodes, MemoryAttribute, Object,
    ObjectType, Set, Topology, TypeName,
    devices::{DeviceKinds, NearTo, NicChoice},
    groups::{ResourceType, Uri},
};

/// Sets that queries fill, made once so that no query has to allocate them.
#[derive(Default)]
pub(crate) struct Room {
    pub(crate) set: Set,
    pub(crate) parts: Vec<Set>,
}

/// Accepts text and drops it.
struct Nowhere;

impl std::fmt::Write for Nowhere {
    fn write_str(&mut self, _: &str) -> std::fmt::Result {
        Ok(())
    }
}

/// Asks every query of a topology that takes a set. Returns how many objects were found.
pub(crate) fn ask_with_set(topology: Topology<'_>, set: &Set, room: &mut Room) -> usize {
    let mut found = 0;
    let mut count = |object: Option<Object<'_>>| found += usize::from(object.is_some());
    count(topology.covering(set));
    count(topology.cache_covering(set));
    count(topology.root().child_covering(set));
    let inside = topology.inside(set);
    count(inside.first_largest());
    inside.largest().for_each(|object| count(Some(object)));
    for depth in depths(topology) {
        inside.objects_at_depth(depth).for_each(|object| count(Some(object)));
        topology.objects_covering(set, depth).for_each(|object| count(Some(object)));
        count(inside.object_at_depth(depth, inside.count_at_depth(depth) / 2));
    }
    for kind in ObjectType::ALL {
        count(inside.objects_with_type(kind).next());
        count(topology.objects_with_type_covering(set, kind).next());
        let _ = inside.count_with_type(kind);
    }
    for which in
        [LocalNumaNodes::SAME_LOCALITY, LocalNumaNodes::LARGER_LOCALITY | LocalNumaNodes::ALL]
    {
        topology.local_numa_nodes(set, which).for_each(|node| count(Some(node)));
    }
    let _ = topology.cpu_kind_of(set).map(|kind| kind.efficiency());
    let _ = topology.relative_locality(set, &room.set);
    let _ = topology.write_locality_string(set, &mut Nowhere);
    for it in topology.device_distances(set, DeviceKinds::ALL) {
        count(Some(it.device));
        let _ = topology.device_path(set, it.device);
    }
    room.set.clear();
    topology.add_cpusets_of_nodes(set, &mut room.set);
    topology.singlify_per_core(&mut room.set, 1);
    found
}

/// Asks every query of an object, with another object of the same topology.
pub(crate) fn ask_object<'a>(object: Object<'a>, other: Object<'a>, set: &Set, room: &mut Room) {
    let topology = object.topology();
    let _ =
        (object.next_sibling(), object.prev_sibling(), object.next_cousin(), object.prev_cousin());
    let _ = (object.pus(), object.cpuset_weight(), object.total_memory(), object.name());
    let _ = (object.write_type_name(true, &mut Nowhere), TypeName::parse("OSDev[GPU]"));
    let _ = (object.is_inside(set), object.intersects(set), object.covers(set));
    let _ = (object.facts().count(), object.fact("Speed"), object.pci_device_above());
    let _ = (object.link_state(), object.link_mbps(), topology.path_class(object, other));
    for port in object.ports() {
        let _ = (port.link_layer(), port.rate_mbps(), port.pkeys().count(), port.physical_state());
        let _ = (port.lid(), port.sm_lid(), port.gid(0));
    }
    let _ = (object.common_ancestor(other), object.is_in_subtree(other), object.shared_cache());
    let _ = (object.non_io_ancestor(), object.covers_pci_bus(0, 3), object.is_named("eth0"));
    let _ = (object.copy_cpuset(&mut room.set), object.copy_complete_cpuset(&mut room.set));
    let _ = (object.copy_nodeset(&mut room.set), object.copy_complete_nodeset(&mut room.set));
    let _ = topology.inside(set).index_of(object);
    let _ = object.closest().take(40).count() + object.all_children().count();
    let _ = object.subtree().take(40).count()
        + object.children().map(|it| it.subtree().count()).sum::<usize>();
    let _ = object.local_numa_nodes(LocalNumaNodes::SMALLER_LOCALITY).count();
    for depth in depths(topology) {
        let _ = object.ancestor_at_depth(depth);
    }
    for kind in ObjectType::ALL {
        let _ = object.ancestor_with_type(kind);
        let _ = object.with_same_locality(kind, None, Some("x"));
        let _ = object.objects_inside(kind).count();
    }
    for matrix in topology.distances() {
        let _ = matrix.between(object, other);
    }
    for attribute in topology.memory_attributes() {
        let from = Initiator::Object(other);
        let _ = (attribute.value(object, &from), attribute.best_target(&from));
        let _ = attribute.best_target(&Initiator::None);
    }
    if let Some(index) = object.os_index() {
        let _ = (topology.pu_by_os_index(index), topology.numa_node_by_os_index(index));
    }
    if let Attributes::Pci(pci) = object.attributes() {
        let _ = topology.pci_device(pci.bus_id());
    }
    if let Some(name) = object.name() {
        let _ = (topology.os_device(name), topology.objects_with_name(name).count());
    }
    let how = Distribution { until: Some(Depth::Normal(3)), reverse: object.id() % 2 == 0 };
    topology.distribute_into(&[object, other], how, &mut room.parts);
}

/// The depths of a topology, one depth that it lacks, and those of the special types.
fn depths(topology: Topology<'_>) -> impl Iterator<Item = Depth> {
    (0..=topology.depth()).map(Depth::Normal).chain(Depth::SPECIAL)
}

/// Asks every query of a topology as a whole.
pub(crate) fn ask_topology(topology: Topology<'_>) {
    for kind in ObjectType::ALL {
        let _ = (topology.type_depth(kind), topology.type_or_below_depth(kind));
        let _ = (topology.type_or_above_depth(kind), topology.objects_with_type(kind).count());
    }
    for level in 0..6 {
        let _ = (topology.cache_depth(level, None), topology.group_depth(level));
    }
    let _ = (topology.memory_parents_depth(), topology.pci_device_by_bus_id("0000:03:00.0"));
    let _ = topology.memory_attribute("Bandwidth").map(MemoryAttribute::flags);
    let _ = topology.distances_with_name("NUMALatency").count();
    let _ = topology.distances_of_type(ObjectType::NUMANode).count();
    for choice in [NicChoice::Active, NicChoice::ActiveOrUnknown] {
        let _ = topology.nics(choice).count() + topology.gpus().count();
    }
    for uri in ["machine", "group", "numa", "hbm", "core", "nvlink", "gpu", "bindset"] {
        let _ = Uri::parse(uri).map(|uri| topology.resource_objects(uri).count());
    }
    for resource in [ResourceType::HostBridge, ResourceType::PciSwitch, ResourceType::XgmiHive] {
        let _ =
            topology.resource_objects(Uri::of(resource)).filter_map(Object::host_bridge).count();
    }
}

/// Asks the queries that take memory from the heap.
pub(crate) fn ask_with_heap(topology: Topology<'_>, set: &Set) {
    let devices: Vec<Object<'_>> = topology.objects_with_type(ObjectType::OSDevice).collect();
    let near = [NearTo::Pus(set), NearTo::Pus(set)].into_iter();
    let near: Vec<NearTo<'_, '_>> =
        near.chain(devices.iter().copied().map(NearTo::Device).take(2)).collect();
    let given = topology.assign(&devices, &near, 3);
    assert_eq!(given.len(), near.len() * devices.len().min(3));
    let kinds = DeviceKinds::ALL | DeviceKinds::BLOCK;
    let found = topology.device_distances_pmix7(set, kinds);
    assert!(found.iter().all(|it| it.min <= it.max));
}
