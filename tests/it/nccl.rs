//! Files for NCCL and RCCL: written for every machine with a GPU or a NIC, and read back.

use crate::segments::topobroker;
use std::path::Path;
use std::process::{Command, Output};
use topobroker::hwloc::Input;
use topobroker::links::{GuestBusIds, NcclDevice, NcclFile, NcclReadError, nccl, rccl};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{
    Archive, Attributes, Object, ObjectType, Topology,
    devices::PathClass,
    links::{Link, LinkClass, Links, SwitchModel, VertexId, VertexKind},
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

pub(crate) fn with(file: &Path, ask: impl FnOnce(Topology<'_>)) {
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

fn check(topology: Topology<'_>, links: &Links<'_>, file: &NcclFile, name: &str) -> usize {
    file.devices.iter().for_each(|device| check_device(topology, device));
    let mut pairs = 0;
    let devices: Vec<(VertexId, Object<'_>, usize)> = links
        .vertex_ids()
        .zip(links.vertices())
        .filter(|(_, it)| matches!(it.kind, VertexKind::Gpu | VertexKind::Nic))
        .map(|(vertex, _)| {
            let object = links.object(vertex).unwrap();
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
            let written = [nccl(&separate, &own), rccl(&one, &own)];
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
pub(crate) fn on(machine: &str, script: &str) -> Option<Output> {
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
