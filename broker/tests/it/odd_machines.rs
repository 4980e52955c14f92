//! Machines with several NUMA nodes of the same PUs, without cores, without memory on a die, and
//! with devices of which hwloc or the system knows little.

use topobroker::hwloc::Input;
use topobroker::links::{GuestBusIds, NcclFile, nccl};
use topobroker::placement::{Policy, Rules, place};
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::devices::environment::{Interface, of_gpus};
use topobroker_reader::{
    Archive, ObjectType, Set, Topology, View,
    devices::PathClass,
    links::{SwitchModel, VertexKind},
};
use topobroker_samples::{archived, describe, machines, shared, topology_of, topology_of_xml};

/// The archive of one of the cases of `../shared`.
fn case(name: &str) -> Option<AlignedVec> {
    let file = shared()?.join("cases/machines").join(name);
    Some(archived(file))
}

/// The PUs of ranks, as lists.
fn placed(topology: Topology<'_>, map_by: &str, ranks: Option<usize>) -> Vec<Option<Set>> {
    let placed = place(topology, &Policy::parse(map_by, None).unwrap(), ranks, &[]).unwrap();
    placed.into_iter().map(|it| it.cpuset).collect()
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
        let file = nccl(&topology.links(SwitchModel::One).unwrap(), &GuestBusIds::new()).unwrap();
        assert!(file.contains("numaid=\"0\"") && !file.contains("numaid=\"-1\""), "{name}: {file}");
    }
}

#[test]
fn a_device_whose_place_is_unknown_is_on_a_numa_node_in_files_for_nccl() {
    let Some(bytes) = case("nic-of-unknown-locality.xml") else { return };
    let opened = Archive::open(&bytes).unwrap();
    let topology = opened.topology();
    let links = topology.links(SwitchModel::One).unwrap();
    let file = NcclFile::read(&nccl(&links, &GuestBusIds::new()).unwrap()).unwrap();
    let places: Vec<(&str, i64)> =
        file.devices.iter().map(|device| (device.bus_id.as_str(), device.numa)).collect();
    assert_eq!(places, [("0000:40:00.0", 0), ("0000:00:00.0", 0), ("0000:41:00.0", 1)]);
}

#[test]
fn ranks_on_a_machine_without_cores_are_unbound_or_refused_as_by_launchers() {
    for name in ["no-cores.xml", "no-cores-no-packages.xml"] {
        let Some(bytes) = case(name) else { return };
        let opened = Archive::open(&bytes).unwrap();
        let topology = opened.topology();
        for map_by in ["core", "slot", "hwthread", "numa"] {
            let policy = Policy::parse(map_by, None).unwrap();
            let policy = Policy { rules: Rules::Mpirun4, ..policy };
            let ranks = place(topology, &policy, Some(2), &[]).unwrap();
            assert!(ranks.iter().all(|it| it.cpuset.is_none()), "{name} {map_by}: {ranks:?}");
        }
        // PRRTE refuses what is not there.
        assert!(place(topology, &Policy::parse("core", None).unwrap(), Some(2), &[]).is_err());
        assert_eq!(placed(topology, "slot", Some(2)), [None, None], "{name}");
        for rules in [Rules::Prrte5, Rules::Mpirun4] {
            let policy = Policy { rules, ..Policy::parse("core", Some("core")).unwrap() };
            assert!(place(topology, &policy, Some(2), &[]).is_err(), "{name}");
        }
    }
}

#[test]
fn default_nodes_are_one_for_each_set_of_pus_and_cover_the_machine() {
    let Some(shared) = shared() else { return };
    for machine in machines(&shared) {
        let topology = topology_of_xml(machine.path);
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
    for machine in machines(&shared) {
        let topology = topology_of_xml(machine.path);
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

/// A node with two GPUs of each vendor, on one package and a die without memory next to it.
const GPUS: &str = r#"<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xf" allowed_cpuset="0xf"
      nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="2">
      <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1" gp_index="3"/>
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4"/>
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1" gp_index="5"/>
      <object type="Bridge" gp_index="10" bridge_type="0-1" depth="0" bridge_pci="0000:[20-24]">
        <object type="PCIDev" gp_index="11" pci_busid="0000:22:00.0" pci_type="0302 [10de:20b0] [0000:0000] 00" pci_link_speed="0">
          <object type="OSDev" gp_index="12" name="cuda1" subtype="CUDA" osdev_type="5"/>
          <object type="OSDev" gp_index="13" name="nvml1" subtype="NVML" osdev_type="1">NVML1</object>
        </object>
        <object type="PCIDev" gp_index="14" pci_busid="0000:21:00.0" pci_type="0302 [10de:20b0] [0000:0000] 00" pci_link_speed="0">
          <object type="OSDev" gp_index="15" name="cuda0" subtype="CUDA" osdev_type="5"/>
          <object type="OSDev" gp_index="16" name="nvml0" subtype="NVML" osdev_type="1">NVML0</object>
        </object>
        <object type="PCIDev" gp_index="17" pci_busid="0000:23:00.0" pci_type="0380 [1002:740c] [0000:0000] 00" pci_link_speed="0">
          <object type="OSDev" gp_index="18" name="rsmi0" subtype="RSMI" osdev_type="1"/>
        </object>
        <object type="PCIDev" gp_index="19" pci_busid="0000:24:00.0" pci_type="0380 [8086:0bd5] [0000:0000] 00" pci_link_speed="0">
          <object type="OSDev" gp_index="20" name="ze0" subtype="LevelZero" osdev_type="5"/>
        </object>
      </object>
    </object>
    <object type="Package" os_index="1" cpuset="0xc" complete_cpuset="0xc" nodeset="0x0" complete_nodeset="0x0" gp_index="6">
      <object type="PU" os_index="2" cpuset="0x4" complete_cpuset="0x4" nodeset="0x0" complete_nodeset="0x0" gp_index="7"/>
      <object type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x0" complete_nodeset="0x0" gp_index="8"/>
    </object>
  </object>
</topology>"#;

#[test]
fn gpus_are_named_by_uuid_where_it_is_known_otherwise_by_their_number_on_the_bus() {
    let variables = |xml: &str, interface, names: &[&str]| {
        let topology = topology_of(&describe(&Input::XmlText(xml.to_owned())));
        let gpus: Vec<_> = names.iter().map(|name| topology.os_device(name).unwrap()).collect();
        let found = of_gpus(interface, &gpus, topology);
        found.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    };
    let plain = GPUS.replace("NVML0", "").replace("NVML1", "");
    let uuid = |number: u8| format!("<info name=\"NVIDIAUUID\" value=\"GPU-0{number}\"/>");
    let known = GPUS.replace("NVML0", &uuid(0)).replace("NVML1", &uuid(1));
    let expected = ["CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=1,0"];
    assert_eq!(variables(&plain, Interface::Cuda, &["cuda1", "cuda0"]), expected);
    let expected = ["CUDA_VISIBLE_DEVICES=GPU-01,GPU-00"];
    assert_eq!(variables(&known, Interface::Cuda, &["cuda1", "cuda0"]), expected);
    assert_eq!(variables(&plain, Interface::Rocm, &["rsmi0"]), ["ROCR_VISIBLE_DEVICES=0"]);
    let expected = ["ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE", "ZE_AFFINITY_MASK=0"];
    assert_eq!(variables(&plain, Interface::LevelZero, &["ze0"]), expected);
    assert!(variables(&plain, Interface::Cuda, &["rsmi0"]).is_empty());
}

#[test]
fn the_part_of_a_process_on_a_die_without_memory_keeps_the_memory_of_the_node() {
    let xml = GPUS.replace("NVML0", "").replace("NVML1", "");
    let topology = topology_of(&describe(&Input::XmlText(xml)));
    let pus: Set = [2, 3].into_iter().collect();
    let view = View::of_pus(topology, &pus).unwrap();
    assert_eq!(view.topology().root().cpuset(), Some(pus));
    assert_eq!(view.topology().objects_with_type(ObjectType::NUMANode).count(), 1);
    let other: Set = [0].into_iter().collect();
    assert_eq!(View::of_pus(topology, &other).unwrap().topology().root().cpuset(), Some(other));
}

#[test]
fn ranks_are_mapped_and_bound_to_the_pus_near_gpus_in_turn() {
    let xml = GPUS.replace("NVML0", "").replace("NVML1", "");
    let topology = topology_of(&describe(&Input::XmlText(xml)));
    let near: Set = [0, 1].into_iter().collect();
    let ranks = placed(topology, "gpu", Some(3));
    assert_eq!(ranks, vec![Some(near.clone()); 3]);
    assert_eq!(placed(topology, "gpu", None).len(), 4);
    let policy = Policy::parse("hwthread", Some("gpu")).unwrap();
    let ranks = place(topology, &policy, Some(4), &[]).unwrap();
    let ranks: Vec<_> = ranks.into_iter().map(|it| it.cpuset).collect();
    assert_eq!(ranks, vec![Some(near); 4]);
}

/// The ids that libpmix 7.0.0rc1 gives on the same files.
#[test]
fn openfabrics_devices_without_guids_have_the_ids_of_pmix_7() {
    for (name, guids) in [
        ("efa-zero-guids.xml", "0000:0000:0000:0000::0000:0000:0000:0000::"),
        ("efa-no-guids.xml", ""),
    ] {
        let Some(bytes) = case(name) else { return };
        let opened = Archive::open(&bytes).unwrap();
        for device in ["rdmap10s0", "rdmap11s0", "rdmap12s0", "rdmap13s0"] {
            let id = opened.topology().os_device(device).unwrap().pmix_device_id("vm");
            assert_eq!(id, Some(format!("fab://{guids}vm::{device}")), "{name}");
        }
    }
}
