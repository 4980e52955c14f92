//! Compares the ancestors of objects with hwloc's own parent pointers.

use hwlocality::object::TopologyObject;
use hwlocality::topology::Topology as Hwloc;
use hwlocality::topology::builder::{BuildFlags, TypeFilter};
use std::collections::HashMap;
use topobroker::hwloc::Input;
use topobroker::hwloc::capture;
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{Archive, Depth, Object, ObjectType, Topology};
use topobroker_samples::{machines, shared, topology_of};

fn number(object: &TopologyObject) -> u64 {
    object.global_persistent_index()
}

/// Numbers (`gp_index`) of an object of hwloc and of all its ancestors, up to the root.
fn path(object: &TopologyObject) -> Vec<u64> {
    std::iter::once(number(object)).chain(object.ancestors().map(number)).collect()
}

fn check(ours: Topology<'_>, theirs: &Hwloc, name: &str) -> usize {
    let paths: HashMap<u64, Vec<u64>> =
        theirs.objects().map(|object| (number(object), path(object))).collect();
    let objects: Vec<Object<'_>> = ours.objects().collect();
    assert_eq!(objects.len(), paths.len(), "{name}");
    for object in &objects {
        let expected = &paths[&object.gp_index()];
        let found: Vec<u64> = object.ancestors().map(Object::gp_index).collect();
        assert_eq!(&found, &expected[1..], "{name}");
    }
    let mut checked = 0;
    // Pairs that are far apart and pairs that are close, of every kind of object.
    let step = (objects.len() / 40).max(1);
    for (place, one) in objects.iter().enumerate().step_by(step) {
        for two in objects.iter().skip(place % 7).step_by(step).chain(&objects[..3]) {
            let (first, second) = (&paths[&one.gp_index()], &paths[&two.gp_index()]);
            let common = first.iter().find(|number| second.contains(number)).unwrap();
            assert_eq!(one.common_ancestor(*two).gp_index(), *common, "{name}");
            checked += 1;
        }
    }
    checked
}

fn check_input(input: &Input, theirs: &Hwloc, name: &str) -> usize {
    let topology = topobroker_samples::loaded(input);
    let bytes = to_bytes(&capture(&topology).unwrap()).unwrap();
    check(Archive::open(&bytes).unwrap().topology(), theirs, name)
}

#[test]
fn ancestors_on_synthetic_machines_equal_hwlocs() {
    let mut checked = 0;
    for text in [
        "PU:1",
        "Package:2 NUMANode:2 L3Cache:1 Core:3 PU:2",
        "Group:3 Package:2 Die:2 L2Cache:2 L1dCache:1 L1iCache:1 Core:1 PU:4",
        "Package:4 [NUMANode(memory=1000)] [NUMANode] L3Cache:2 Core:2 PU:1",
    ] {
        let builder = Hwloc::builder().with_common_type_filter(TypeFilter::KeepAll).unwrap();
        let theirs = builder.from_synthetic(text).unwrap().build().unwrap();
        checked += check_input(&Input::Synthetic(text.to_owned()), &theirs, text);
    }
    assert!(checked > 2000, "{checked}");
}

#[test]
fn ancestors_on_reference_machines_equal_hwlocs() {
    let Some(shared) = shared() else { return };
    let mut checked = 0;
    for machine in machines(&shared) {
        let builder = Hwloc::builder().with_flags(BuildFlags::IMPORT_SUPPORT).unwrap();
        let builder = builder.with_common_type_filter(TypeFilter::KeepAll).unwrap();
        let theirs = builder.from_xml_file(&machine.path).unwrap().build().unwrap();
        checked += check_input(&Input::Xml(machine.path), &theirs, &machine.name);
    }
    assert!(checked > 100_000, "{checked}");
}

#[test]
fn the_non_io_ancestor_of_a_device_is_the_object_it_is_attached_to() {
    let xml = "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0x3\" \
               complete_cpuset=\"0x3\" allowed_cpuset=\"0x3\" nodeset=\"0x1\" \
               complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">\
               <object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" \
               nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"2\"/>\
               <object type=\"L2Cache\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" \
               complete_nodeset=\"0x1\" gp_index=\"6\" cache_size=\"1\" depth=\"2\" \
               cache_linesize=\"64\" cache_associativity=\"1\" cache_type=\"0\">\
               <object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" \
               nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"3\"/>\
               <object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" \
               nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"4\"/></object>\
               <object type=\"OSDev\" gp_index=\"5\" name=\"eth0\" osdev_type=\"2\"/>\
               </object></topology>";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("device.xml");
    std::fs::write(&path, xml).unwrap();
    let topology = topobroker_samples::loaded(&Input::Xml(path));
    let topology = topology_of(&capture(&topology).unwrap());
    let of_type = |object_type| topology.objects_with_type(object_type).next().unwrap();
    let device = of_type(ObjectType::OSDevice);
    assert_eq!(device.non_io_ancestor(), topology.root());
    let pu = of_type(ObjectType::PU);
    assert_eq!(pu.non_io_ancestor(), pu);
    assert_eq!(pu.shared_cache(), Some(of_type(ObjectType::L2Cache)));
    assert_eq!(pu.ancestor_with_type(ObjectType::L2Cache), Some(of_type(ObjectType::L2Cache)));
    assert_eq!(pu.ancestor_at_depth(Depth::ROOT), Some(topology.root()));
    assert_eq!(device.shared_cache(), None);
}
