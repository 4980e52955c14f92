//! Compares distances of devices with what PMIx says of the same sets.

use crate::localities::any_set;
use std::path::Path;
use std::process::Command;
use topobroker_embedding::{compile, has_package, said};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{
    ObjectType, Topology,
    devices::{DeviceDistance, DeviceKinds},
};
use topobroker_samples::{machines, shared, topology_of_xml};

const KINDS: [DeviceKinds; 4] =
    [DeviceKinds::ALL, DeviceKinds::GPU, DeviceKinds::NETWORK, DeviceKinds::OPEN_FABRICS];

/// A line of PMIx: its status, and a text for each device.
fn ask(reference: &Path, xml: &Path, sets: &[Set]) -> Vec<(String, Vec<String>)> {
    let lists = sets.iter().map(|set| set.to_text(Format::List));
    let output = Command::new(reference).arg(xml).args(lists).output().unwrap();
    assert!(output.status.success(), "{}: {}", xml.display(), said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| {
        let mut parts = line.split('\t').map(str::to_owned);
        (parts.next().unwrap(), parts.collect())
    };
    text.lines().map(line).collect()
}

/// A device as the reference prints it; `None` if it has no id.
fn printed(distance: &DeviceDistance<'_>, host: &str) -> Option<String> {
    let name = distance.device.name().unwrap_or_default();
    let id = distance.device.pmix5_device_id(host)?;
    Some(format!("{name} {} {} {id}", distance.min, distance.max))
}

/// Compares the devices of a machine. Returns how often PMIx has answered, and how often it has
/// failed.
fn compare(reference: &Path, xml: &Path, topology: Topology<'_>, sets: &[Set]) -> (usize, usize) {
    let host = rustix::system::uname();
    let host = host.nodename().to_str().unwrap();
    let mut lines = ask(reference, xml, sets).into_iter();
    let (mut answered, mut failed) = (0, 0);
    for (set, kinds) in sets.iter().flat_map(|set| KINDS.map(|kinds| (set, kinds))) {
        let (status, theirs) = lines.next().unwrap();
        let ours: Vec<DeviceDistance<'_>> = topology.device_distances(set, kinds).collect();
        let texts: Vec<Option<String>> = ours.iter().map(|it| printed(it, host)).collect();
        let case = format!("{}: {set:?} {kinds:?}: {status}, {texts:?}", xml.display());
        match status.as_str() {
            "SUCCESS" => {
                assert_eq!(texts.into_iter().flatten().collect::<Vec<_>>(), theirs, "{case}")
            }
            "NOT-FOUND" => assert!(texts.is_empty(), "{case}"),
            // No object below the root has all of the set.
            "NOT_AVAILABLE" => {
                assert!(ours.iter().all(|it| it.min == DeviceDistance::UNKNOWN), "{case}");
            }
            "ERROR" => assert!(texts.iter().any(Option::is_none), "{case}"),
            _ => panic!("{case}"),
        }
        match status.as_str() {
            "SUCCESS" => answered += 1,
            _ => failed += 1,
        }
    }
    (answered, failed)
}

/// Sets of a machine: one PU, all of them, the first and the last, and random ones.
fn sets_of(random: &mut fastrand::Rng, topology: Topology<'_>, pus: &[u32]) -> Vec<Set> {
    let fixed: [Set; 3] = [
        pus.iter().take(1).copied().collect(),
        pus.iter().copied().collect(),
        [pus[0], pus[pus.len() - 1]].into_iter().collect(),
    ];
    let others = (0..5).map(|_| any_set(random, topology, pus));
    fixed.into_iter().chain(others).filter(|set| !set.is_empty()).collect()
}

#[test]
fn distances_and_ids_of_devices_are_those_of_pmix_where_it_has_an_answer() {
    let Some(shared) = shared() else { return };
    if !has_package("pmix") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let packages = ["pmix", "hwloc"];
    let reference =
        compile(folder.path(), "cc", "distances_reference.c", "reference", &packages, &[]);
    let mut random = fastrand::Rng::with_seed(42);
    let (mut files, mut answered, mut failed) = (0, 0, 0);
    for machine in &machines(&shared) {
        let topology = topology_of_xml(&machine.path);
        let pus: Vec<u32> = topology.root().cpuset().unwrap_or_default().iter().collect();
        if topology.objects_with_type(ObjectType::OSDevice).next().is_none() || pus.is_empty() {
            continue;
        }
        let sets = sets_of(&mut random, topology, &pus);
        let (good, bad) = compare(&reference, &machine.path, topology, &sets);
        (files, answered, failed) = (files + 1, answered + good, failed + bad);
    }
    eprintln!("{files} files, {answered} answers of PMIx, {failed} failures of PMIx");
    assert!(files > 50 && answered > 500, "{files} {answered} {failed}");
}

#[test]
fn distances_by_the_rule_of_pmix_7_are_those_of_a_model_of_it() {
    const MODEL: [u64; 6] = [46, 2, 4, 8, 1, 12];
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let model = compile(folder.path(), "cc", "distances_pmix7.c", "model", &["hwloc"], &[]);
    let mut random = fastrand::Rng::with_seed(43);
    let (mut files, mut answered, mut apart) = (0, 0, 0);
    for machine in &machines(&shared) {
        let topology = topology_of_xml(&machine.path);
        let pus: Vec<u32> = topology.root().cpuset().unwrap_or_default().iter().collect();
        if topology.objects_with_type(ObjectType::OSDevice).next().is_none() || pus.is_empty() {
            continue;
        }
        let mut sets = sets_of(&mut random, topology, &pus);
        // PUs that the machine does not have are not measured.
        sets.push([pus[0], pus[pus.len() - 1] + 1000].into_iter().collect());
        let mut lines = ask(&model, &machine.path, &sets).into_iter();
        files += 1;
        for (set, kinds) in sets.iter().flat_map(|set| MODEL.map(|kinds| (set, kinds))) {
            let (status, theirs) = lines.next().unwrap();
            let kinds = DeviceKinds::from_bits(kinds).unwrap();
            let ours = topology.device_distances_pmix7(set, kinds);
            let printed = |it: &DeviceDistance<'_>| {
                let name = it.device.name().unwrap_or_default();
                format!("{name} {} {} {}", it.kind.bits(), it.min, it.max)
            };
            let texts: Vec<String> = ours.iter().map(printed).collect();
            let case = format!("{}: {set:?} {kinds:?}: {status}", machine.name);
            match status.as_str() {
                "NOT_AVAILABLE" => {
                    let unknown = DeviceDistance::UNKNOWN;
                    assert!(ours.iter().all(|it| (it.min, it.max) == (unknown, unknown)), "{case}");
                }
                _ => assert_eq!(texts, theirs, "{case}"),
            }
            answered += usize::from(status == "SUCCESS");
            apart += ours.iter().filter(|it| it.min < it.max).count();
        }
    }
    eprintln!("{files} files, {answered} answers, {apart} devices with PUs at several distances");
    assert!(files > 50 && answered > 500 && apart > 20, "{files} {answered} {apart}");
}
