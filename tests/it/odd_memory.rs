//! Machines with several NUMA nodes of the same PUs, without cores, and with GPUs of which hwloc knows
//! no programming interface.

use topobroker::hwloc::Input;
use topobroker::links::nccl;
use topobroker::placement::{Policy, place};
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::{
    Archive, ObjectType, Set, Topology,
    devices::PathClass,
    links::{SwitchModel, VertexKind},
};
use topobroker_tests::{describe, machines, shared};

/// The archive of one of the cases of `../shared`.
fn case(name: &str) -> Option<AlignedVec> {
    let file = shared()?.join("cases/machines").join(name);
    Some(to_bytes(&describe(&Input::Xml(file))).unwrap())
}

/// The PUs of ranks, as lists.
fn placed(topology: Topology<'_>, map_by: &str, ranks: Option<usize>) -> Vec<Option<Set>> {
    place(topology, &Policy::parse(map_by, None).unwrap(), ranks, &[]).unwrap()
}

#[test]
fn numa_means_the_nodes_whose_memory_is_the_default_of_their_pus() {
    for name in ["gb200.xml", "sprhbm.xml"] {
        let Some(bytes) = case(name) else { return };
        let opened = Archive::open(&bytes).unwrap();
        let topology = opened.topology();
        let packages: Vec<Option<Set>> =
            topology.objects_with_type(ObjectType::Package).map(|it| it.cpuset()).collect();
        assert_eq!(packages.len(), 2);
        assert_eq!(placed(topology, "numa", Some(2)), packages, "{name}");
        let each = placed(topology, "ppr:1:numa", None);
        assert_eq!(each.len(), 2, "{name}");
        for (rank, package) in each.iter().zip(&packages) {
            let (rank, package) = (rank.as_ref().unwrap(), package.as_ref().unwrap());
            assert!(rank.is_included_in(package), "{name}: {rank} {package}");
        }
    }
}

#[test]
fn a_device_is_as_near_if_other_memory_has_the_same_pus() {
    for name in ["cxl-none.xml", "cxl-dram.xml", "hbm.xml"] {
        let Some(bytes) = case(name) else { return };
        let opened = Archive::open(&bytes).unwrap();
        let topology = opened.topology();
        let device = |name| topology.os_device(name).unwrap();
        let class = topology.path_class(device("cuda0"), device("mlx5_0"));
        assert_eq!(class, PathClass::Node, "{name}");
        let file = nccl(topology, &topology.links(SwitchModel::One).unwrap()).unwrap();
        assert!(file.contains("numaid=\"0\"") && !file.contains("numaid=\"-1\""), "{name}: {file}");
    }
}

#[test]
fn ranks_on_a_machine_without_cores_are_placed_as_mpirun_places_them() {
    for name in ["no-cores.xml", "no-cores-no-packages.xml"] {
        let Some(bytes) = case(name) else { return };
        let opened = Archive::open(&bytes).unwrap();
        for map_by in ["core", "slot"] {
            assert_eq!(placed(opened.topology(), map_by, Some(2)), [None, None], "{name} {map_by}");
        }
        // As mpirun refuses it.
        let policy = Policy::parse("core", Some("core")).unwrap();
        assert!(place(opened.topology(), &policy, Some(2), &[]).is_err(), "{name}");
    }
}

#[test]
fn default_nodes_are_one_for_each_set_of_pus_and_cover_the_machine() {
    let Some(shared) = shared() else { return };
    for machine in machines(&shared).into_iter().filter(|machine| machine.loads) {
        let bytes = to_bytes(&describe(&Input::Xml(machine.path))).unwrap();
        let opened = Archive::open(&bytes).unwrap();
        let topology = opened.topology();
        let mut seen = Set::new();
        for node in topology.default_numa_nodes().skip_while(|it| it.cpuset_weight() == Some(0)) {
            let pus = node.cpuset().unwrap();
            assert!(!pus.intersects(&seen), "{}: {pus}", machine.name);
            seen = &seen | &pus;
        }
    }
}

#[test]
fn what_a_gpu_is_does_not_depend_on_who_asks() {
    let Some(shared) = shared() else { return };
    let mut bare = 0;
    for machine in machines(&shared).into_iter().filter(|machine| machine.loads) {
        let bytes = to_bytes(&describe(&Input::Xml(machine.path))).unwrap();
        let opened = Archive::open(&bytes).unwrap();
        let topology = opened.topology();
        let links = topology.links(SwitchModel::One).unwrap();
        let is_gpu = |kind| kind == VertexKind::Gpu;
        let vertices = links.vertices().iter().filter(|vertex| is_gpu(vertex.kind)).count();
        let on_pci = topology.gpus().filter(|gpu| gpu.pci_device_above().is_some());
        assert_eq!(on_pci.count(), vertices, "{}", machine.name);
        let is_pci =
            |gpu: &topobroker_reader::Object<'_>| gpu.object_type() == ObjectType::PCIDevice;
        bare += topology.gpus().filter(is_pci).count();
    }
    assert!(bare > 0, "no machine has GPUs without a programming interface");
}
