//! Files for NCCL and RCCL: written for every machine with a GPU or a NIC, and read back.

use crate::links::with;
use topobroker::links::{GuestBusIds, NcclDevice, NcclFile, NcclReadError, nccl, rccl};
use topobroker_reader::{
    Attributes, Object, ObjectType, Topology,
    devices::PathClass,
    links::{Link, LinkClass, Links, SwitchModel, VertexId, VertexKind},
};
use topobroker_samples::{machines, shared};

/// NCCL's words for the speed of a PCI link, and what a lane has in MB/s.
const SPEEDS: [(&str, f32); 6] = [
    ("2.5 GT/s", 250.0),
    ("5 GT/s", 500.0),
    ("8 GT/s", 984.6),
    ("16 GT/s", 1969.2),
    ("32 GT/s", 3938.5),
    ("64.0 GT/s PCIe", 7876.9),
];

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
            bridge.upstream.is_some_and(|pci| pci.bus_id().to_string() == device.bus_id)
        }
        _ => false,
    });
    let object = topology.pci_device_by_bus_id(&device.bus_id).or(bridge).expect("a device");
    let reported = |object: Object<'_>| match object.attributes() {
        Attributes::Pci(pci) => pci.linkspeed,
        Attributes::Bridge(bridge) => bridge.upstream.map_or(0.0, |pci| pci.linkspeed),
        _ => 0.0,
    };
    if let Some((speed, width)) = speed.zip(width) {
        let (_, lane) = SPEEDS.iter().find(|(word, _)| word == speed).expect("a word of NCCL");
        let width: f32 = width.parse().unwrap();
        assert!((1.0..=16.0).contains(&width));
        let known = [reported(object), object.parent().map_or(0.0, reported)];
        let expected = known.into_iter().find(|it| *it > 0.0).unwrap() * 1000.0;
        assert!((lane * width - expected).abs() < expected * 0.06, "{device:?}: {expected}");
    }
}

/// What is between two devices, as far as NCCL's files say.
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
            let place =
                file.devices.iter().position(|it| it.bus_id == attributes.bus_id().to_string());
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
    for machine in &machines(&shared) {
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
