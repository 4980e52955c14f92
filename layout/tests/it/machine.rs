//! A small machine with objects in every kind of child list.

use topobroker_layout::attributes::{
    Associativity, Attributes, Bridge, Cache, CacheKind, OsDeviceKind, PageType, Pci,
};
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{
    CpuKind, Description, Distances, Initiator, MemoryAttribute, MemoryValue, Object, Sets,
};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

fn object(object_type: ObjectType, depth: i32, logical_index: u32) -> Object {
    Object {
        object_type,
        depth: Depth::from_raw(depth).unwrap(),
        logical_index,
        symmetric_subtree: true,
        ..Object::default()
    }
}

fn set(indexes: &[u32]) -> Set {
    indexes.iter().copied().collect()
}

fn sets(pus: &[u32], nodes: &[u32]) -> Option<Sets> {
    let (cpuset, nodeset) = (set(pus), set(nodes));
    let (complete_cpuset, complete_nodeset) = (cpuset.clone(), nodeset.clone());
    Some(Sets { cpuset, complete_cpuset, nodeset, complete_nodeset })
}

/// Two packages of two PUs each. The first has a NUMA node behind a memory-side cache. The root has
/// a bridge with a PCI device, the device has an OS device, and this has a Misc object.
pub(crate) fn machine() -> Description {
    use ObjectType::{Bridge as BridgeType, Machine, MemCache, Misc, NUMANode, OSDevice};
    use ObjectType::{PCIDevice, PU, Package};
    let mut objects = vec![
        object(Machine, 0, 0),
        object(Package, 1, 0),
        object(Package, 1, 1),
        object(PU, 2, 0),
        object(PU, 2, 1),
        object(PU, 2, 2),
        object(PU, 2, 3),
        object(MemCache, -8, 0),
        object(NUMANode, -3, 0),
        object(BridgeType, -4, 0),
        object(PCIDevice, -5, 0),
        object(OSDevice, -6, 0),
        object(Misc, -7, 0),
    ];
    let children: [(usize, &[usize]); 7] = [
        (0, &[1, 2, 9]),
        (1, &[3, 4, 7]),
        (2, &[5, 6]),
        (7, &[8]),
        (9, &[10]),
        (10, &[11]),
        (11, &[12]),
    ];
    for (parent, children) in children {
        objects[parent].children = children.to_vec();
        children.iter().for_each(|child| objects[*child].parent = Some(parent));
    }
    for (place, object) in objects.iter_mut().enumerate() {
        object.gp_index = place as u64 + 1;
    }
    // OS indexes do not follow the logical indexes.
    let os_indexes = [0, 2, 1, 3];
    for (pu, os_index) in (3..).zip(os_indexes) {
        objects[pu].os_index = Some(os_index);
        objects[pu].sets = sets(&[os_index], &[0]);
    }
    objects[0].sets = sets(&os_indexes, &[0]);
    objects[1].sets = sets(&[0, 2], &[0]);
    objects[2].sets = sets(&[1, 3], &[0]);
    objects[7].sets = sets(&[0, 2], &[0]);
    objects[7].attributes = Attributes::Cache(Cache {
        size: 1 << 30,
        depth: 1,
        linesize: 64,
        associativity: Some(Associativity::Full),
        kind: CacheKind::Unified,
    });
    objects[8].sets = sets(&[0, 2], &[0]);
    objects[8].os_index = Some(0);
    objects[8].attributes = Attributes::NumaNode { local_memory: 16 << 30 };
    objects[8].page_types = vec![PageType { size: 4096, count: 4 << 20 }];
    let pci = Pci { bus: 3, class_id: 0x0200, vendor_id: 0x8086, linkspeed: 8.0, ..Pci::default() };
    objects[9].attributes = Attributes::Bridge(Bridge { downstream_type: 1, ..Bridge::default() });
    objects[10].attributes = Attributes::Pci(pci);
    objects[10].name = Some("Vendor Fast Network".to_owned());
    objects[10].infos = vec![("PCIDevice".to_owned(), "Fast Network".to_owned())];
    objects[11].attributes = Attributes::OsDevice { kind: OsDeviceKind::OpenFabrics };
    objects[11].subtype = Some("Fast".to_owned());
    let texts = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    objects[11].infos =
        texts(&[("Port1State", "4"), ("Port1GID0", "fe80:0000:0000:0000:0002:c903:00a1:b2c3")]);
    objects[11].facts = texts(&[("Port1Rate", "100 Gb/sec (4X EDR)"), ("Port1Pkeys", "0xffff")]);
    objects[12].name = Some("note".to_owned());
    Description {
        objects,
        allowed_cpuset: set(&os_indexes),
        allowed_nodeset: set(&[0]),
        distances: vec![Distances {
            name: Some("Hops".to_owned()),
            kind: 5,
            objects: vec![1, 2],
            values: vec![0, 1, 1, 0],
        }],
        memory_attributes: vec![MemoryAttribute {
            name: "Bandwidth".to_owned(),
            flags: 5,
            values: vec![MemoryValue {
                target: 8,
                initiator: Initiator::Cpuset(set(&[0, 2])),
                value: 100_000,
            }],
        }],
        cpu_kinds: vec![CpuKind {
            cpuset: set(&os_indexes),
            efficiency: Some(0),
            forced_efficiency: None,
            infos: vec![("CoreType".to_owned(), "Big".to_owned())],
        }],
        is_this_system: true,
        ..Description::default()
    }
}
