//! Files of NCCL about virtual machines, and devices of which hwloc does not know where they are.

use crate::links_declared::on;
use topobroker::links::{NcclDevice, NcclFile};
use topobroker_samples::saved_root::SavedRoot;
use topobroker_samples::shared;
use topobroker_tests::segments::{topobroker, topobroker_file};

#[test]
fn a_file_for_a_virtual_machine_has_its_devices_by_the_bus_ids_of_the_guest() {
    let script = "$T links -i $M --of nccl > $F/host; grep -o 'busid=\"[^\"]*\" class=\"0x0[23]' $F/host | \
            cut -d'\"' -f2 > $F/all; \
        map=$(awk '{printf \"--map-bus %s=000a:0%d:00.0 \", $1, NR}' $F/all); \
        $T links -i $M --of nccl $map > $F/guest; \
        grep -c 000a: $F/guest; grep -c -f $F/all $F/guest; grep -c 'nvlink target=.000a' $F/guest; \
        $T links -i $M --of nccl --map-bus 0000:ff:00.0=0000:01:00.0; \
        $T links -i $M --of nccl --map-bus $(head -1 $F/all)=x; \
        $T links -i $M --of json $map; rm $F/host $F/guest $F/all";
    let Some(output) = on("flux-core__ipa20.xml", script) else { return };
    let said = String::from_utf8(output.stderr).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let [devices, others, links] = text.lines().collect::<Vec<_>>()[..] else {
        panic!("{text}{said}")
    };
    assert!(devices.parse::<u32>().unwrap() >= 3 && others == "0", "{text}");
    assert!(links.parse::<u32>().unwrap() >= 1, "{text}");
    for expected in [
        "0000:ff:00.0: is no GPU or NIC of this topology",
        "expected two PCI bus ids",
        "--map-bus is about files for NCCL and RCCL",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn devices_of_a_virtual_machine_are_where_the_file_of_its_cloud_says() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let device = |bus_id: &str| {
        format!(
            "<pci busid=\"{bus_id}\" class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"/>"
        )
    };
    let switch = |bus_id: &str, below: &str| {
        format!(
            "<pci busid=\"{bus_id}\" class=\"0x060400\" link_speed=\"8.0 GT/s PCIe\" link_width=\"16\">{below}</pci>"
        )
    };
    let file = |first: &str, second: &str| {
        format!(
            "<system version=\"1\"><cpu numaid=\"2\">{first}</cpu><cpu numaid=\"3\">{second}</cpu></system>"
        )
    };
    // A GPU and the NIC below one switch, the other GPU below another node.
    let both = device("0003:00:00.0") + &device("0103:00:00.0");
    let text = file(&switch("ffff:ff:01.0", &both), &device("0001:00:00.0"));
    let run = |text: &str, script: &str| {
        std::fs::write(folder.path().join("tree"), text).unwrap();
        let mut command = topobroker();
        command
            .args(["run", "--folder"])
            .arg(folder.path())
            .arg("--pci-tree")
            .arg(folder.path().join("tree"));
        command
            .arg("-i")
            .arg(shared.join("cases/nccl/vm.hwloc.xml"))
            .args(["--", "sh", "-c", script]);
        command.env("T", topobroker_file()).current_dir(folder.path());
        let output = command.output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let class = |one: &str, other: &str| {
        let text = run(&text, "$T links --of matrix");
        let head: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
        let row =
            text.lines().find(|line| line.starts_with(one)).unwrap_or_else(|| panic!("{text}"));
        let column = head.iter().position(|it| *it == other).unwrap_or_else(|| panic!("{text}"));
        row.split_whitespace().nth(column + 1).unwrap().to_owned()
    };
    assert_eq!([class("cuda0", "mlx5_ib0"), class("cuda2", "mlx5_ib0")], ["PIX", "SYS"]);
    // What is written for NCCL again is the same tree.
    let again = NcclFile::read(&run(&text, "$T links --of nccl")).unwrap();
    let read = NcclFile::read(&text).unwrap();
    for device in &read.devices {
        let found = again.devices.iter().find(|it| it.bus_id == device.bus_id).unwrap();
        assert_eq!(found.numa, device.numa, "{found:?}");
        assert_eq!(found.switch.is_some(), device.switch.is_some(), "{found:?}");
        let speed = |device: &NcclDevice| -> f32 {
            device.attributes["link_speed"].split(' ').next().unwrap().parse().unwrap()
        };
        assert_eq!(speed(found), speed(device), "{found:?}");
    }
    // Bus ids may be short.
    let short =
        text.replace("\"0003:00:00.0", "\"3:0:0.0").replace("\"0103:00:00.0", "\"103:0:0.0");
    let short = short.replace("\"0001:00:00.0", "\"1:0:0.0");
    assert_ne!(short, text);
    assert_eq!(run(&short, "$T links --of matrix"), run(&text, "$T links --of matrix"));
    // hwloc reads the topology.
    let loads = run(&text, "$T export > t.xml && hwloc-calc -i t.xml -N pu all; rm t.xml");
    assert_eq!(loads, "16\n");
    for (text, said) in [
        (file(&device("0009:00:00.0"), ""), "0009:00:00.0: the topology has no such PCI device"),
        (
            file(&device("0001:00:00.0"), "").replace("numaid=\"2\"", "numaid=\"9\""),
            "numaid 9: the topology has no such NUMA node",
        ),
        (file(&switch("ffff:1ff:01.0", &both), ""), "ffff:1ff:01.0: is no bus id of a switch"),
    ] {
        let found = run(&text, "true");
        assert!(found.contains(said), "{found}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_device_near_a_numa_node_without_pus_is_below_that_node_in_files_for_nccl() {
    let mut root = SavedRoot::new();
    root.write("sys/devices/system/node/online", "0-2");
    for (node, cpus) in [(0, "1"), (1, "2"), (2, "0")] {
        let folder = format!("sys/devices/system/node/node{node}");
        root.write(&format!("{folder}/cpumap"), cpus);
        root.write(&format!("{folder}/meminfo"), &format!("Node {node} MemTotal: 1048576 kB"));
    }
    for (name, cpus, node) in [("mlx5_0", "2", "1"), ("mlx5_1", "0", "2"), ("mlx5_2", "0", "-1")] {
        let pci = root.fabric(name, "0x15b3", &[]);
        root.write(&format!("{pci}/local_cpus"), cpus);
        root.write(&format!("{pci}/numa_node"), node);
    }
    let mut command = topobroker();
    let output = command.args(["links", "--of", "nccl", "-i"]).arg(root.path()).output().unwrap();
    let file = NcclFile::read(&String::from_utf8(output.stdout).unwrap()).unwrap();
    let places: Vec<(&str, i64)> =
        file.devices.iter().map(|it| (it.bus_id.as_str(), it.numa)).collect();
    // The place of the last one is unknown: it is below the first node of the file.
    assert_eq!(places, [("0000:01:00.0", 1), ("0000:03:00.0", 1), ("0000:02:00.0", 2)]);
}
