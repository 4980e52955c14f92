//! Files for NCCL and RCCL: written for every machine with a GPU or a NIC, and read back.

use crate::saved_root::SavedRoot;
use crate::segments::topobroker;
use std::path::Path;
use std::process::{Command, Output};
use topobroker::hwloc::Input;
use topobroker::links::{GuestBusIds, NcclDevice, NcclFile, NcclReadError, nccl, rccl, told};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{
    Archive, Attributes, Object, ObjectType, Topology,
    devices::PathClass,
    links::{Link, LinkClass, Links, SwitchModel, VertexKind},
};
use topobroker_tests::{describe, machines, shared};

/// NCCL's words for the speed of a PCI link, and what a lane has in MB/s.
const SPEEDS: [(&str, f32); 6] = [
    ("2.5 GT/s", 250.0),
    ("5 GT/s", 500.0),
    ("8 GT/s", 984.6),
    ("16 GT/s", 1969.2),
    ("32 GT/s", 3938.5),
    ("64.0 GT/s PCIe", 7876.9),
];

fn with(file: &Path, ask: impl FnOnce(Topology<'_>)) {
    let archive = to_bytes(&describe(&Input::Xml(file.to_owned()))).unwrap();
    ask(Archive::open(&archive).unwrap().topology());
}

/// Checks the attributes of a device by NCCL's grammar, and its link by what hwloc says.
fn check_device(topology: Topology<'_>, device: &NcclDevice) {
    let hexadecimal = |name: &str, digits: usize| {
        let value = &device.attributes[name];
        let number = value.strip_prefix("0x").unwrap();
        assert!(
            number.len() == digits && u32::from_str_radix(number, 16).is_ok(),
            "{name}={value}"
        );
    };
    hexadecimal("class", 6);
    for name in ["vendor", "device", "subsystem_vendor", "subsystem_device"] {
        hexadecimal(name, 4);
    }
    let speed = device.attributes.get("link_speed");
    let width = device.attributes.get("link_width");
    assert_eq!(speed.is_some(), width.is_some());
    let bridge = topology.objects_with_type(ObjectType::Bridge).find(|it| match it.attributes() {
        Attributes::Bridge(bridge) => {
            bridge.upstream.is_some_and(|pci| pci.bus_id_text() == device.bus_id)
        }
        _ => false,
    });
    let object = topology.pci_device_by_bus_id(&device.bus_id).or(bridge).expect("a device");
    let told = |object: Object<'_>| match object.attributes() {
        Attributes::Pci(pci) => pci.linkspeed,
        Attributes::Bridge(bridge) => bridge.upstream.map_or(0.0, |pci| pci.linkspeed),
        _ => 0.0,
    };
    if let Some((speed, width)) = speed.zip(width) {
        let (_, lane) = SPEEDS.iter().find(|(word, _)| word == speed).expect("a word of NCCL");
        let width: f32 = width.parse().unwrap();
        assert!((1.0..=16.0).contains(&width));
        let known = [told(object), object.parent().map_or(0.0, told)];
        let expected = known.into_iter().find(|it| *it > 0.0).unwrap() * 1000.0;
        assert!((lane * width - expected).abs() < expected * 0.06, "{device:?}: {expected}");
    }
}

/// What is between two devices, as far as NCCL's files tell.
fn expected(topology: Topology<'_>, one: Object<'_>, other: Object<'_>) -> PathClass {
    let shares_switch = one.pci_switches().any(|it| other.pci_switches().any(|that| that == it));
    match topology.path_class(one, other) {
        // Functions of a device below a root port.
        PathClass::Pix | PathClass::Pxb | PathClass::Phb if !shares_switch => PathClass::Phb,
        PathClass::Node => PathClass::Phb,
        class => class,
    }
}

fn check(topology: Topology<'_>, links: &Links, file: &NcclFile, name: &str) -> usize {
    file.devices.iter().for_each(|device| check_device(topology, device));
    let mut pairs = 0;
    let devices: Vec<(u16, Object<'_>, usize)> = (0..)
        .zip(links.vertices())
        .filter(|(_, it)| matches!(it.kind, VertexKind::Gpu | VertexKind::Nic))
        .map(|(vertex, _)| {
            let object = links.object(topology, vertex).unwrap();
            let pci = match object.object_type() {
                ObjectType::PCIDevice => object,
                _ => object.pci_device_above().unwrap(),
            };
            let Attributes::Pci(attributes) = pci.attributes() else { panic!("{pci:?}") };
            let place = file.devices.iter().position(|it| it.bus_id == attributes.bus_id_text());
            (vertex, pci, place.expect("each GPU and NIC is in the file"))
        })
        .collect();
    for (_, one, place) in &devices {
        for (_, other, there) in &devices {
            // NCCL knows one NUMA node of each device.
            let is_of_one = |device: &Object<'_>| {
                device.non_io_ancestor().nodeset().is_some_and(|it| it.weight() == Some(1))
            };
            if is_of_one(one) && is_of_one(other) {
                let class = file.path_class(*place, *there);
                assert_eq!(class, expected(topology, *one, *other), "{name}: {one:?} {other:?}");
                pairs += 1;
            }
        }
    }
    pairs
}

#[test]
fn every_machine_with_a_gpu_or_a_nic_has_a_file_for_nccl_with_the_same_path_classes() {
    let Some(shared) = shared() else { return };
    let (mut files, mut pairs, mut nvlinks) = (0, 0, 0);
    for machine in machines(&shared).iter().filter(|machine| machine.loads) {
        with(&machine.path, |topology| {
            let separate = topology.links(SwitchModel::Separate).unwrap();
            let one = topology.links(SwitchModel::One).unwrap();
            let has_device = separate
                .vertices()
                .iter()
                .any(|it| matches!(it.kind, VertexKind::Gpu | VertexKind::Nic));
            let own = GuestBusIds::new();
            let written = [nccl(topology, &separate, &own), rccl(topology, &one, &own)];
            assert!(written.iter().all(|it| it.is_ok() == has_device), "{}", machine.name);
            for (text, (links, class)) in
                written.into_iter().zip([(&separate, LinkClass::NvLink), (&one, LinkClass::Xgmi)])
            {
                let Ok(text) = text else { continue };
                let file = NcclFile::read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
                files += 1;
                pairs += check(topology, links, &file, &machine.name);
                // What hwloc does not count is left to RCCL.
                let counted = |it: &&Link| it.class == class && it.links.is_some();
                let of_gpus = links.links().iter().filter(counted).count();
                assert_eq!(of_gpus > 0, !file.links.is_empty(), "{}", machine.name);
                nvlinks += file.links.len();
            }
        });
    }
    eprintln!("{files} files, {pairs} pairs, {nvlinks} links");
    assert!(files > 90 && pairs > 2000 && nvlinks > 100, "{files} {pairs} {nvlinks}");
}

#[test]
fn what_nccl_would_not_read_is_refused_with_the_place_and_the_reason() {
    let pci = "<pci busid=\"0000:01:00.0\">";
    let system =
        |inside: &str| format!("<system version=\"1\"><cpu numaid=\"0\">{inside}</cpu></system>");
    let many = format!("{pci}</pci>").repeat(260);
    let attributes: Vec<String> = (0..17).map(|number| format!(" a{number}=\"\"")).collect();
    let hundred_thousand: Vec<String> = (0..100_000).map(|it| format!(" a{it}=\"\"")).collect();
    let long = format!("<pci busid=\"0000:01:00.0\" class=\"{}\"/>", "0".repeat(256));
    let gpu = |link: &str| system(&format!("{pci}<gpu dev=\"0\">{link}</gpu></pci>"));
    for (text, said) in [
        (String::new(), "the text ends"),
        ("<system version=\"1\">".to_owned(), "the text ends"),
        ("<system version=\"3\"/>".to_owned(), "a version of 1 or 2"),
        ("<cpu numaid=\"0\"/>".to_owned(), "one system, in it cpu"),
        ("<system version=\"1\"><cpu/></system>".to_owned(), "a numaid that is a number"),
        (system("<pci busid=\"01:00.0\"/>"), "a busid such as 0000:03:00.0"),
        ("<system version=\"1\"/><system version=\"1\"/>".to_owned(), "one system, in it cpu"),
        (gpu("<c2c bw=\"x\" count=\"1\"/>"), "a bw from 1 to 2^32-1"),
        (system("<gpu/>"), "one system, in it cpu"),
        (system(&many), "element 256; NCCL reads at most 255"),
        (
            system(&format!("<pci busid=\"0000:01:00.0\"{}/>", attributes.concat())),
            "pci with more attributes",
        ),
        (system("<pci busid=\"0000:01:00.0\" a=\"\" a=\"\"/>"), "has the attribute a twice"),
        (system(&format!("<pci{}/>", hundred_thousand.concat())), "pci with more attributes"),
        (system(&long), "class of 256 letters"),
        (gpu("<nvlink count=\"2\"/>"), "a target of an nvlink"),
        (gpu("<nvlink target=\"0000:02:00.0\" count=\"x\"/>"), "a count from 1 to 65535"),
        (system("<pci busid=0/>"), "at byte"),
    ] {
        let error: NcclReadError = NcclFile::read(&text).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}

/// Runs a script over the topology of a reference machine; `$T` is the program.
fn on(machine: &str, script: &str) -> Option<Output> {
    let file = shared()?.join("topologies").join(machine);
    let folder = tempfile::tempdir().unwrap();
    let mut command = topobroker();
    command.args(["run", "--folder"]).arg(folder.path()).arg("-i").arg(&file);
    command.args(["--", "sh", "-c", script]).env("F", folder.path()).env("M", &file);
    command.env("T", Command::new(env!("CARGO_BIN_EXE_topobroker_for_tests")).get_program());
    let output = command.output().unwrap();
    // What is told goes with the topology.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{output:?}");
    Some(output)
}

#[test]
fn links_are_told_by_files_of_nccl_and_json_and_go_with_the_topology() {
    let script = "$T links -i $M --of nccl > $F/nccl; $T links --tell $F/nccl; rm $F/nccl; \
        cat $F/*+links | wc -c; $T links | grep -c 'NVL x6 150000 MB/s told'; $T links --tell $M; \
        $T links --forget; $T links --forget; \
        echo '{\"nodes\":[{\"id\":\"leaf\",\"kind\":\"netswitch\"}],\"edges\":[\
        {\"source\":\"mlx5_0\",\"target\":\"leaf\",\"class\":\"FAB\",\"bandwidth\":25000}]}' > $F/json; \
        $T links --tell $F/json; rm $F/json; $T links --from cuda0 --to leaf";
    let Some(output) = on("flux-core__ipa20.xml", script) else { return };
    let text = String::from_utf8(output.stdout).unwrap();
    let [bytes, told, path] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(bytes.trim().parse::<u32>().unwrap() <= 2000, "{bytes}");
    assert_eq!(told, "6");
    assert_eq!(path, "cuda0 leaf 25000 MB/s, 3 links: cuda0 - 0000:49:00.0 - mlx5_0 - leaf");
    let errors = String::from_utf8(output.stderr).unwrap();
    let [first, second] = errors.lines().collect::<Vec<_>>()[..] else { panic!("{errors}") };
    assert!(first.contains("expected one system, in it cpu"), "{first}");
    assert!(second.contains("no links are told of this topology"), "{second}");
}

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
fn links_that_readers_would_refuse_are_not_told() {
    let script = "{ echo '{\"nodes\":['; \
        for at in $(seq 1 4999); do echo '{\"id\":\"leaf'$at'\",\"kind\":\"netswitch\"},'; done; \
        echo '{\"id\":\"leaf5000\",\"kind\":\"netswitch\"}],\"edges\":['; \
        for at in $(seq 2 5000); do \
            echo '{\"source\":\"leaf1\",\"target\":\"leaf'$at'\",\"class\":\"FAB\"}'; \
            [ $at = 5000 ] || echo ,; done; echo ']}'; } > $F/many; \
        $T links --tell $F/many; rm $F/many; ls $F | grep -c links; $T links > $F/text && rm $F/text";
    let Some(output) = on("flux-core__ipa20.xml", script) else { return };
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("at most 4096 and 32768"), "{error}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0\n");
}

#[test]
fn a_file_of_nccl_tells_what_hwloc_without_nvidias_library_does_not_see() {
    // The machine as hwloc sees it without NVML: no devices of it, no subtypes, no matrix.
    let script = "$T links -i $X --of nccl > $F/nccl; \
        sed -e '/type=\"OSDev\".*nvml/,/<\\/object>/d' -e 's/subtype=\"NVSwitch\"//' \
            -e '/<distances2hetero/,/<\\/distances2hetero>/d' -e '/<distances2 /,/<\\/distances2>/d' \
            $X > $F/plain.xml; \
        $T run -i $F/plain.xml -- sh -c '$T links --from 0000:34:00.0 --to 0000:36:00.0; \
            $T links --tell $F/nccl; $T links --from 0000:34:00.0 --to 0000:36:00.0; \
            sed s/target=.[0-9a-f:.]*.\\ /target=\\\"fffffff:ffff:ff\\\"\\ / $F/nccl > $F/vm; \
            $T links --forget; $T links --tell $F/vm; $T links --from 0000:34:00.0 --to 0000:36:00.0; \
            $T links --of nccl | grep -c nvlink'; rm $F/*.xml $F/nccl $F/vm";
    let Some(shared) = shared() else { return };
    let machine = shared.join("topologies/hwloc-v2.x__nvidiaDGX2.xml");
    let script = script.replace("$X", machine.to_str().unwrap());
    let Some(output) = on("flux-core__ipa20.xml", &script) else { return };
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let [before, told, hidden, links] = text.lines().collect::<Vec<_>>()[..] else {
        panic!("{output:?}")
    };
    assert!(!before.contains("NVSwitch"), "{before}");
    for told in [told, hidden] {
        assert!(told.contains("150000 MB/s, 2 links") && told.contains(" - NVSwitch - "), "{told}");
    }
    assert!(links.parse::<u32>().unwrap() > 0, "{links}");
}

#[test]
fn what_was_exported_for_nccl_can_be_told_without_changing_a_path() {
    for machine in ["flux-core__ipa20.xml", "hwloc-v2.x__nvidiaDGX2.xml"] {
        let script = "$T links --pairs > $F/before; $T links --of nccl > $F/file; \
             $T links --tell $F/file; $T links --pairs | diff $F/before -; rm $F/before $F/file";
        let Some(output) = on(machine, script) else { return };
        let (out, error) =
            [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap()).into();
        assert_eq!((out.as_str(), error.as_str()), ("", ""), "{machine}");
    }
}

#[test]
fn links_of_amd_gpus_are_in_files_for_rccl_once_somebody_has_counted_them() {
    // hwloc knows which GPUs are linked, but not how often.
    let script = "$T links --of rccl > $F/file; grep -c xgmi $F/file; \
        echo '{\"edges\":[{\"source\":\"rsmi0\",\"target\":\"rsmi1\",\"class\":\"XGMI\",\"links\":4}]}' > $F/json; \
        $T links --tell $F/json; $T links --of rccl > $F/file; grep -c 'xgmi.* count=.4' $F/file; \
        grep -c xgmi $F/file; rm $F/file $F/json";
    let Some(output) = on("flux-core__tuo.SPX.xml", script) else { return };
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (String::from_utf8(output.stdout).unwrap().as_str(), error.as_str()),
        ("0\n2\n2\n", "")
    );
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
        command.env("T", env!("CARGO_BIN_EXE_topobroker_for_tests")).current_dir(folder.path());
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
    let told = NcclFile::read(&text).unwrap();
    for device in &told.devices {
        let found = again.devices.iter().find(|it| it.bus_id == device.bus_id).unwrap();
        assert_eq!(found.numa, device.numa, "{found:?}");
        assert_eq!(found.switch.is_some(), device.switch.is_some(), "{found:?}");
        let speed = |device: &NcclDevice| -> f32 {
            device.attributes["link_speed"].split(' ').next().unwrap().parse().unwrap()
        };
        assert_eq!(speed(found), speed(device), "{found:?}");
    }
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
    // Of the last one nobody knows: it is below the first node of the file.
    assert_eq!(places, [("0000:01:00.0", 1), ("0000:03:00.0", 1), ("0000:02:00.0", 2)]);
}

#[test]
fn elements_that_nccl_adds_in_other_versions_are_left_out() {
    let text = "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\">\
                <pcilink target=\"0000:02:00.0\"/><pci busid=\"0000:03:00.0\"><gpu dev=\"0\"/></pci>\
                <nic><net name=\"a\" dev=\"0\"/></nic></pci></cpu></system>";
    let file = NcclFile::read(text).unwrap();
    let found: Vec<_> = file.devices.iter().map(|it| (it.bus_id.as_str(), it.switch)).collect();
    assert_eq!(found, [("0000:01:00.0", None), ("0000:03:00.0", Some(0))]);
}

#[test]
fn links_that_name_what_is_not_there_are_refused_and_leave_nothing() {
    for (json, said) in [
        ("{\"edges\":[{\"source\":\"cuda9\",\"target\":\"cuda0\",\"class\":\"NVL\"}]}", "cuda9"),
        (
            "{\"edges\":[{\"source\":\"cuda1\",\"target\":\"cuda0\",\"class\":\"NV\"}]}",
            "class is \"NV\"",
        ),
        (
            "{\"edges\":[{\"source\":\"cuda1\",\"target\":\"cuda0\",\"class\":\"NVL\",\"bandwidth\":0}]}",
            "bandwidth is 0",
        ),
        (
            "{\"edges\":[{\"source\":\"cuda0\",\"target\":\"cuda0\",\"class\":\"NVL\"}]}",
            "target is \"cuda0\"; expected another vertex than the source",
        ),
        ("{", "no JSON"),
        ("{\"nodes\":[],\"links\":[]}", "no edges"),
        (
            "{\"edges\":[{\"source\":\"cuda1\",\"target\":\"cuda0\",\"class\":\"NVL\",\"links\":70000}]}",
            "links is 70000",
        ),
        (
            "{\"edges\":[{\"source\":\"cuda1\",\"target\":\"cuda0\",\"class\":\"NVL\",\"origin\":\"guess\"}]}",
            "origin is \"guess\"",
        ),
        (
            "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:5f:00.0\"><gpu>\
             <nvlink target=\"0000:77:00.0\" count=\"1\"/></gpu></pci></cpu></system>",
            "0000:77:00.0: the topology has no such PCI device",
        ),
        (
            "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:5f:00.0\"><gpu>\
             <nvlink target=\"0000:77:00.0\" count=\"0\"/></gpu></pci></cpu></system>",
            "expected a count from 1 to 65535",
        ),
        (
            "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"9999:01:00.0\"/></cpu></system>",
            "9999:01:00.0: the topology has no such PCI device",
        ),
        ("<system version=\"1\"></system>", "no links; expected nvlink, xgmi or c2c"),
        (
            "{\"nodes\":[{\"id\":\"\",\"kind\":\"netswitch\"}],\"edges\":[{\"source\":\"\",\
             \"target\":\"cuda0\",\"class\":\"FAB\"}]}",
            "source is \"\"",
        ),
    ] {
        let script = format!("echo '{json}' > $F/told; $T links --tell $F/told; rm $F/told; ls $F");
        let Some(output) = on("flux-core__ipa20.xml", &script) else { return };
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(said), "{json}: {error}");
        let left = String::from_utf8(output.stdout).unwrap();
        assert_eq!(left.lines().filter(|line| line.contains("links")).count(), 0, "{left}");
    }
}

#[test]
fn files_of_virtual_machines_tell_hidden_switches_and_those_of_several_hosts_are_refused() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("cases/nccl");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    with(&folder.join("vm.hwloc.xml"), |topology| {
        let known = topology.links(SwitchModel::Separate).unwrap();
        for (file, counts) in [
            ("hidden-nvswitch.xml", [18, 18]),
            ("switch-that-the-vm-lacks.xml", [18, 18]),
            // A GPU in two parts lists all of its links at each.
            ("mlopart.xml", [36, 18]),
        ] {
            let told = told(topology, &known, &read(file)).unwrap();
            let to_switch = told.links().iter().filter(|link| link.class == LinkClass::NvLink);
            let found: Vec<u16> = to_switch.map(|link| link.links.unwrap()).collect();
            assert_eq!(found, counts, "{file}");
            let switches =
                told.vertices().iter().filter(|vertex| vertex.kind == VertexKind::NvSwitch);
            assert_eq!(switches.count(), 1, "{file}");
            let from_cpus = told.links().iter().filter(|link| link.class == LinkClass::C2c);
            assert_eq!(from_cpus.count(), 2, "{file}");
        }
        let hosts = read("two-hosts.xml");
        let refused = told(topology, &known, &hosts).unwrap_err().to_string();
        assert!(
            refused.contains("2 hosts, of which 2 have only devices of this machine"),
            "{refused}"
        );
        // If the other host has devices that are not here, its part is left out.
        let start = hosts.rfind("host_hash=\"0x1111111111111111\" numaid=\"0\"").unwrap();
        let other = hosts[start..].replace("0003:00:00.0", "0009:00:00.0");
        let told = told(topology, &known, &(hosts[..start].to_owned() + &other)).unwrap();
        let nvlinks = told.links().iter().filter(|link| link.class == LinkClass::NvLink);
        let counts: Vec<u16> = nvlinks.map(|link| link.links.unwrap()).collect();
        assert_eq!(counts, [18, 18]);
    });
}
