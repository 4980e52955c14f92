//! Compares NICs of ranks with the rules of Open MPI, MPICH and NCCL, run with real hwloc and PMIx.

use crate::localities::any_set;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use topobroker::nics::{NicRank, Rule, chosen};
use topobroker_embedding::{compile, has_package, said};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{
    Object, ObjectType, OsDeviceKind, Topology,
    devices::{NearTo, Nearness, NicChoice, PathClass},
};
use topobroker_samples::{machines, shared, topology_of_xml};

fn name<'a>(device: &Object<'a>) -> &'a str {
    device.name().unwrap_or("-")
}

/// What the reference chooses for each rank: by Open MPI, MPICH and NCCL.
fn ask(
    reference: &Path,
    xml: &Path,
    nics: &[Object<'_>],
    gpus: &[Object<'_>],
    ranks: &[NicRank<'_>],
) -> Vec<Vec<String>> {
    let names = |devices: &[Object<'_>]| {
        let names: Vec<&str> = devices.iter().map(name).collect();
        format!("{} {}\n", names.len(), names.join(" "))
    };
    let number = |gpu: Option<Object<'_>>| {
        let place = gpus.iter().position(|it| Some(*it) == gpu);
        place.map_or("-1".to_owned(), |place| place.to_string())
    };
    let lines = ranks.iter().map(|it| {
        let list = it.cpuset.as_ref().map_or("-".to_owned(), |set| set.to_text(Format::List));
        format!("{} {list} {}\n", it.rank, number(it.gpu))
    });
    let text =
        names(nics) + &names(gpus) + &format!("{}\n", ranks.len()) + &lines.collect::<String>();
    let mut command = Command::new(reference);
    command.arg(xml).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}: {}\n{text}", xml.display(), said(&output));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// Ranks of many kinds: bound to one PU each, to random sets, and not bound.
fn ranks<'a>(
    random: &mut fastrand::Rng,
    topology: Topology<'a>,
    gpus: &[Object<'a>],
    kind: u8,
) -> Vec<NicRank<'a>> {
    let pus: Vec<u32> = topology.root().cpuset().unwrap_or_default().iter().collect();
    let count = random.usize(2..40);
    let step = pus.len().div_ceil(count);
    let set = |place: usize, random: &mut fastrand::Rng| match kind {
        0 => Some([pus[place * step % pus.len()]].into_iter().collect()),
        1 => Some(any_set(random, topology, &pus)),
        _ => random.bool().then(|| any_set(random, topology, &pus)),
    };
    let rank = |place: usize| NicRank {
        rank: 100 + u32::try_from(place).unwrap(),
        cpuset: set(place, random).filter(|set: &Set| !set.is_empty()),
        gpu: gpus.get(place.checked_rem(gpus.len()).unwrap_or(0)).copied(),
    };
    (0..count).map(rank).collect()
}

#[test]
fn nics_by_the_rules_of_open_mpi_mpich_and_nccl_are_those_that_their_rules_choose() {
    let Some(shared) = shared() else { return };
    if !has_package("pmix") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let packages = ["pmix", "hwloc"];
    let reference =
        compile(folder.path(), "cc", "nics_reference.c", "reference", &packages, &["-lm"]);
    let mut random = fastrand::Rng::with_seed(7);
    let (mut files, mut compared, mut with_gpus) = (0, 0, 0);
    for machine in &machines(&shared) {
        let topology = topology_of_xml(&machine.path);
        // XML files do not say whether network interfaces are up.
        let nics: Vec<Object<'_>> = topology.nics(NicChoice::ActiveOrUnknown).collect();
        if nics.len() < 2 {
            continue;
        }
        // PMIx' topology has no devices that are unimportant to hwloc.
        let mut gpus: Vec<Object<'_>> =
            topology.gpus().filter(|it| it.pci_device_above().is_some()).collect();
        gpus.sort_by_key(|gpu| gpu.bus_id());
        files += 1;
        for kind in 0..3 {
            let ranks = ranks(&mut random, topology, &gpus, kind);
            let theirs = ask(&reference, &machine.path, &nics, &gpus, &ranks);
            assert_eq!(theirs.len(), ranks.len());
            for (place, rule) in [Rule::OpenMpi, Rule::Mpich, Rule::Nccl].into_iter().enumerate() {
                let ours = chosen(rule, topology, &nics, &ranks);
                for (local_rank, ((rank, ours), theirs)) in
                    ranks.iter().zip(&ours).zip(&theirs).enumerate()
                {
                    let ours = ours.as_ref().map_or("-", name);
                    if rule == Rule::OpenMpi && rank.cpuset.is_none() {
                        // The reference gives them the first one, as Open MPI did before 5.0.9.
                        assert_eq!(ours, name(&nics[local_rank % nics.len()]));
                        continue;
                    }
                    assert_eq!(ours, theirs[place], "{}: {rule:?} {rank:?}", machine.name);
                    compared += 1;
                    with_gpus += usize::from(rule == Rule::Nccl && ours != "-");
                }
            }
        }
    }
    eprintln!("{files} files, {compared} choices, {with_gpus} of them by GPUs");
    assert!(files > 20 && compared > 1000 && with_gpus > 50, "{files} {compared} {with_gpus}");
}

#[test]
fn ranks_have_the_nearest_nics_and_equal_ones_are_dealt_evenly() {
    let Some(shared) = shared() else { return };
    let mut random = fastrand::Rng::with_seed(8);
    let mut files = 0;
    for machine in &machines(&shared) {
        let topology = topology_of_xml(&machine.path);
        let nics: Vec<Object<'_>> = topology.nics(NicChoice::ActiveOrUnknown).collect();
        if nics.len() < 2 {
            continue;
        }
        files += 1;
        let places: Vec<_> = nics.iter().map(|nic| nic.pci_device_above()).collect();
        let is_once = |(place, pci): (usize, &Option<Object<'_>>)| {
            pci.is_none() || !places[..place].contains(pci)
        };
        assert!(places.iter().enumerate().all(is_once), "{}", machine.name);
        for kind in 0..2 {
            let sets: Vec<Set> = ranks(&mut random, topology, &[], kind)
                .into_iter()
                .filter_map(|rank| rank.cpuset)
                .collect();
            let near: Vec<NearTo<'_, '_>> = sets.iter().map(NearTo::Pus).collect();
            let given = topology.assign(&nics, &near, 1);
            assert_eq!(given.len(), sets.len());
            assert_eq!(topology.assign(&nics, &near, 1), given);
            let merit = |set: &Set, nic: &Object<'_>| {
                let path = topology.device_path(set, *nic);
                (path.nearness, path.latency.unwrap_or(u64::MAX))
            };
            // By the NICs that are equally good for a rank: how often each was given.
            let mut loads = vec![0; nics.len()];
            // Ranks that a NIC is local to have their turn first.
            let is_local = |set: &Set| {
                let mut nearness = nics.iter().map(|nic| topology.device_path(set, *nic).nearness);
                nearness.any(|it| it == Nearness::Near)
            };
            let all = || sets.iter().zip(&given);
            let first = all().filter(|(set, _)| is_local(set));
            for (set, nic) in first.chain(all().filter(|(set, _)| !is_local(set))) {
                let best = nics.iter().map(|nic| merit(set, nic)).min().unwrap();
                assert_eq!(merit(set, nic), best, "{}: {set:?}", machine.name);
                let equal = |(_, other): &(usize, &Object<'_>)| merit(set, other) == best;
                let least = nics.iter().enumerate().filter(equal).map(|(place, _)| loads[place]);
                let place = nics.iter().position(|it| it == nic).unwrap();
                assert_eq!(loads[place], least.min().unwrap(), "{}: {set:?}", machine.name);
                loads[place] += 1;
            }
            // Several NICs for each rank are different ones, the best first.
            let several = topology.assign(&nics, &near, 2);
            for (set, pair) in sets.iter().zip(several.chunks(2)) {
                assert!(pair[0] != pair[1] && merit(set, &pair[0]) <= merit(set, &pair[1]));
            }
        }
    }
    assert!(files > 20, "{files}");
}

#[test]
fn gpus_are_one_for_each_card_or_partition_and_no_displays() {
    let Some(shared) = shared() else { return };
    let expected = [
        ("flux-core__ipa20.xml", 4),
        ("flux-core__tuo.SPX.xml", 4),
        ("flux-core__tuo.TPX.xml", 12),
        ("flux-core__tuo.CPX.xml", 24),
        ("flux-core__sierra.xml", 4),
    ];
    for machine in &machines(&shared) {
        let Some((_, count)) = expected.iter().find(|(name, _)| *name == machine.name) else {
            continue;
        };
        let topology = topology_of_xml(&machine.path);
        let names: Vec<&str> = topology.gpus().map(|gpu| name(&gpu)).collect();
        assert_eq!(names.len(), *count, "{}: {names:?}", machine.name);
    }
}

#[test]
fn a_nic_for_a_gpu_is_the_one_with_the_least_between_them() {
    let Some(shared) = shared() else { return };
    let file = shared.join("topologies/flux-core__ipa20.xml");
    let topology = topology_of_xml(file);
    let is_fabric = |it: &Object<'_>| {
        matches!(it.attributes(), topobroker_reader::Attributes::OsDevice { kind }
            if kind == OsDeviceKind::OpenFabrics)
    };
    let all = topology.objects_with_type(ObjectType::OSDevice);
    let nics: Vec<Object<'_>> = all.filter(is_fabric).collect();
    let gpus: Vec<Object<'_>> = topology.gpus().collect();
    let near: Vec<NearTo<'_, '_>> = gpus.iter().copied().map(NearTo::Device).collect();
    let mut classes = Vec::new();
    for (gpu, nic) in gpus.iter().zip(topology.assign(&nics, &near, 1)) {
        let class = |nic: &Object<'_>| topology.path_class(*gpu, *nic);
        assert_eq!(Some(class(&nic)), nics.iter().map(class).min(), "{gpu:?} {nic:?}");
        classes.push(class(&nic));
    }
    // Three of the four GPUs have a NIC below the same switch. The fourth has one of its package.
    assert_eq!(classes, [PathClass::Pix, PathClass::Pix, PathClass::Pix, PathClass::Sys]);
    let package = |it: Object<'_>| it.ancestor_with_type(ObjectType::Package).unwrap().id();
    let fourth = topology.assign(&nics, &near, 1)[3];
    assert_eq!(package(fourth), package(gpus[3]));
}
