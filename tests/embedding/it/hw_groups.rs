//! Compares hardware groups of ranks with the recorded answers, with hwloc itself, and with each
//! other.

use crate::localities::any_set;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use topobroker::hwloc::Input;
use topobroker_embedding::{compile, said};
use topobroker_layout::job::Rank;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::jobs::runs_of_pus;
use topobroker_reader::{
    RestrictFlags, Topology, View,
    groups::{HwResources, Unguided, Uri},
    jobs::Job,
};
use topobroker_samples::jobs::segment_of_ranks;
use topobroker_samples::{describe, machines, shared, synthetic, topology_of, topology_of_xml};

/// The instances of all ranks, by type; `None` for a type that the machine does not have.
type Instances = BTreeMap<String, Option<Vec<i64>>>;

/// Ranks with their PUs; `None` if a rank is not bound.
type Sets = Vec<Option<Set>>;

/// Asks about a job whose ranks are numbered from 0.
fn with_job(part: &View<'_>, whole: Topology<'_>, sets: &Sets, ask: impl FnOnce(HwResources<'_>)) {
    let runs = |set: &Set| runs_of_pus(whole, set).unwrap();
    let ranks: Vec<Rank> =
        (0..).zip(sets).map(|(rank, set)| (rank, set.as_ref().map(runs))).collect();
    let segment = segment_of_ranks(part, &ranks).unwrap();
    ask(Job::from_segment(whole, &segment).unwrap().hw_resources());
}

/// The instances of all ranks, -1 for none.
fn colours(resources: &HwResources<'_>, uri: &str) -> Vec<i64> {
    let instances = resources.instances(Uri::parse(uri).unwrap()).unwrap();
    instances.iter().map(|it| it.map_or(-1, i64::from)).collect()
}

fn parse_sets(bindings: &str) -> Sets {
    let set = |list: &str| (list != "-").then(|| Set::parse(list, Format::List).unwrap());
    bindings.split(';').map(set).collect()
}

/// Checks the instances of ranks, and which of them each rank gets; `expected` has a line for
/// each type.
fn check(resources: &HwResources<'_>, expected: &Instances, name: &str) {
    for (uri, expected) in expected {
        let found = colours(resources, uri);
        let none = vec![-1; found.len()];
        assert_eq!(&found, expected.as_ref().unwrap_or(&none), "{name}: {uri}");
    }
    for rank in 0..resources.job().rank_count() {
        let info = resources.info(u32::try_from(rank).unwrap()).unwrap();
        let reported: BTreeMap<String, bool> =
            info.map(|(resource, is)| (Uri::of(resource).to_string(), is)).collect();
        for (uri, expected) in expected.iter().filter(|(uri, _)| !uri.contains('?')) {
            let expected = expected.as_ref().map(|it| it[rank] >= 0);
            assert_eq!(reported.get(uri).copied(), expected, "{name}: rank {rank} {uri}");
        }
    }
}

fn parse_colours(text: &str) -> Option<Vec<i64>> {
    (text != "absent").then(|| text.split(',').map(|it| it.parse().unwrap()).collect())
}

#[test]
fn instances_of_ranks_are_those_of_all_recorded_rows() {
    let Some(shared) = shared() else { return };
    let table = std::fs::read_to_string(shared.join("oracles/mpi-groups.tsv")).unwrap();
    let mut jobs: BTreeMap<(&str, &str), Instances> = BTreeMap::new();
    let mut rows = 0;
    for line in table.lines().skip(1) {
        let [xml, _, bindings, source, resource, result] = line.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("{line}")
        };
        if source == "instance-rule" {
            let job = jobs.entry((xml, bindings)).or_default();
            job.insert(resource.to_owned(), parse_colours(result));
            rows += 1;
        }
    }
    for ((xml, bindings), expected) in jobs {
        let description = describe(&Input::Xml(shared.join("topologies").join(xml)));
        let topology = topology_of(&description);
        with_job(&View::whole(topology), topology, &parse_sets(bindings), |resources| {
            check(&resources, &expected, xml);
        });
    }
    assert_eq!(rows, 900);
}

/// What hwloc says of jobs in a machine or a part of it: the instances of all ranks, by type.
fn ask(reference: &Path, xml: &Path, part: Option<&Set>, jobs: &[Sets]) -> Vec<Instances> {
    let list =
        |set: &Option<Set>| set.as_ref().map_or("-".to_owned(), |it| it.to_text(Format::List));
    let line = |sets: &Sets| sets.iter().map(list).collect::<Vec<_>>().join(";");
    let text: Vec<String> = jobs.iter().map(line).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs");
    std::fs::write(&file, text.join("\n")).unwrap();
    let mut command = Command::new(reference);
    command.arg(xml).args(part.map(|it| it.to_text(Format::List)));
    command.stdin(Stdio::from(std::fs::File::open(file).unwrap()));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}: {}", xml.display(), said(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut answers = vec![BTreeMap::new()];
    for line in text.lines() {
        match line.split_once('\t') {
            None => answers.push(BTreeMap::new()),
            Some((uri, colours)) => {
                let job = answers.last_mut().unwrap();
                job.insert(uri.to_owned(), parse_colours(colours));
            }
        }
    }
    answers.pop();
    answers
}

/// Checks that groups are the ranks with the same instance, each set of ranks once, and that each
/// rank gets those that it is in.
fn check_groups(resources: &HwResources<'_>) {
    let count = resources.job().rank_count();
    let mut expected: BTreeMap<BTreeSet<u32>, BTreeSet<String>> = BTreeMap::new();
    for resource in resources.types() {
        let mut by_instance: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let instances = resources.instances(Uri::of(resource)).unwrap();
        for (rank, instance) in (0..).zip(instances.iter()) {
            if let Some(instance) = instance {
                by_instance.entry(instance).or_default().insert(rank);
            }
        }
        for (instance, ranks) in by_instance {
            let uri = Uri::of_instance(resource, instance).to_string();
            expected.entry(ranks).or_default().insert(uri);
        }
    }
    for least in [1, 2, 5] {
        let groups = resources.groups(least);
        let found: BTreeMap<BTreeSet<u32>, BTreeSet<String>> = groups
            .iter()
            .map(|group| {
                assert!(group.ranks.is_sorted());
                let uris = group.uris.iter().map(ToString::to_string).collect();
                (group.ranks.iter().copied().collect(), uris)
            })
            .collect();
        let large = expected.iter().filter(|(ranks, _)| ranks.len() >= least);
        assert_eq!(found, large.map(|(a, b)| (a.clone(), b.clone())).collect());
        assert!(groups.is_sorted_by_key(|group| std::cmp::Reverse(group.ranks.len())));
        for rank in (0..count).step_by(7).map(|rank| u32::try_from(rank).unwrap()) {
            let mut of_rank: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
            for row in resources.groups_of(rank, least).unwrap() {
                of_rank.entry(row.group).or_default().insert(row.uri.to_string());
                let ranks: Vec<u32> = resources.ranks_on(row.uri).unwrap().collect();
                assert_eq!(ranks.len(), row.size as usize);
                assert!(ranks.contains(&rank));
            }
            let found: BTreeSet<BTreeSet<String>> = of_rank.into_values().collect();
            let own =
                expected.iter().filter(|(ranks, _)| ranks.len() >= least && ranks.contains(&rank));
            assert_eq!(found, own.map(|(_, uris)| uris.clone()).collect());
        }
    }
}

/// Splits ranks until none is left, and checks each split. Returns the number of splits.
fn split_to_the_end(resources: &HwResources<'_>, ranks: &[u32]) -> usize {
    let split: Unguided<'_> = resources.unguided(ranks).unwrap();
    let mut parts: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for rank in ranks {
        if let Some(part) = split.part(*rank) {
            let uri = Unguided::uri(part).unwrap();
            // All ranks of the instance are in the part, and no others.
            let on = resources.ranks_on(uri).unwrap().filter(|it| ranks.contains(it));
            let on: Vec<u32> = on.collect();
            assert!(
                on.contains(rank) && on.len() < ranks.len(),
                "{uri}: {on:?} of {ranks:?}, {:?} {:?}",
                part.cpuset(),
                resources.job().rank(*rank)
            );
            parts.entry(uri.to_string()).or_insert(on);
        }
    }
    let all: usize = parts.values().map(Vec::len).sum();
    let distinct: BTreeSet<&u32> = parts.values().flatten().collect();
    assert_eq!(distinct.len(), all);
    1 + parts.values().map(|part| split_to_the_end(resources, part)).sum::<usize>()
}

#[test]
fn instances_of_ranks_are_those_of_hwloc_on_all_machines_and_views() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let reference =
        compile(folder.path(), "cc", "groups_reference.c", "reference", &["hwloc"], &[]);
    let mut random = fastrand::Rng::with_seed(25);
    let (mut rows, mut of_views, mut splits) = (0, 0, 0);
    let mut types: BTreeSet<String> = BTreeSet::new();
    for machine in &machines(&shared) {
        let topology = topology_of_xml(&machine.path);
        let all: Vec<u32> = topology.root().cpuset().unwrap_or_default().iter().collect();
        if all.is_empty() {
            continue;
        }
        let part = any_set(&mut random, topology, &all);
        let restricted = View::new(topology, &part, RestrictFlags::NONE);
        let views = [(None, Ok(View::whole(topology))), (Some(&part), restricted)];
        for (part, view) in views {
            let Ok(view) = view else { continue };
            let pus: Vec<u32> = view.topology().root().cpuset().unwrap().iter().collect();
            let mut set = || {
                let set = any_set(&mut random, view.topology(), &pus);
                (runs_of_pus(topology, &set).is_some() && random.u8(..9) > 0).then_some(set)
            };
            let jobs: Vec<Sets> = (0..4).map(|_| (0..24).map(|_| set()).collect()).collect();
            for (sets, expected) in jobs.iter().zip(ask(&reference, &machine.path, part, &jobs)) {
                with_job(&view, topology, sets, |resources| {
                    check(&resources, &expected, &machine.name);
                    check_groups(&resources);
                    let ranks: Vec<u32> = (0..24).collect();
                    splits += split_to_the_end(&resources, &ranks);
                });
                let there = expected.iter().filter(|(_, colours)| colours.is_some());
                types.extend(there.clone().map(|(uri, _)| uri.clone()));
                *(if part.is_some() { &mut of_views } else { &mut rows }) += there.count();
            }
        }
    }
    eprintln!("{rows} rows of machines, {of_views} of views, {splits} splits; {types:?}");
    assert!(rows > 4000 && of_views > 2000, "{rows} {of_views}");
}

#[test]
fn instances_of_ranks_are_those_of_hwloc_with_every_cache_and_groups_of_several_levels() {
    let folder = tempfile::tempdir().unwrap();
    let reference =
        compile(folder.path(), "cc", "groups_reference.c", "reference", &["hwloc"], &[]);
    let mut random = fastrand::Rng::with_seed(26);
    for machine in [
        "Package:2 L5:2 L4:2 L3:1 L3i:1 L2:2 L2i:1 L1d:1 L1i:2 Core:1 PU:2",
        "Group:2 Package:2 Die:2 [NUMANode(memory=1GB)] Group:2 L2:2 Core:2 PU:1",
    ] {
        let topology = topology_of(&synthetic(machine));
        let pus: Vec<u32> = topology.root().cpuset().unwrap().iter().collect();
        let mut set = || Some(any_set(&mut random, topology, &pus));
        let jobs: Vec<Sets> = (0..20).map(|_| (0..24).map(|_| set()).collect()).collect();
        let source = format!("synthetic:{machine}");
        for (sets, expected) in jobs.iter().zip(ask(&reference, Path::new(&source), None, &jobs)) {
            with_job(&View::whole(topology), topology, sets, |resources| {
                check(&resources, &expected, machine);
                check_groups(&resources);
            });
        }
    }
    let topology = topology_of(&synthetic("Group:2 Package:2 Group:2 Core:2 PU:1"));
    with_job(&View::whole(topology), topology, &parse_sets("0;1"), |resources| {
        let error = resources.instances(Uri::parse("group").unwrap()).err().unwrap();
        let said = "say which, from hwloc://Group0 to hwloc://Group1";
        assert!(error.to_string().contains(said), "{error}");
        let error = resources.groups_of(7, 1).err().unwrap();
        assert_eq!(error.to_string(), "rank 7 of job peers is not on this node");
    });
}

/// Groups as text: the ranks, and the URIs of types that the example has.
fn groups_of(resources: &HwResources<'_>, rank: u32, least: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for row in resources.groups_of(rank, least).unwrap() {
        let ranks: Vec<String> =
            resources.ranks_on(row.uri).unwrap().map(|rank| rank.to_string()).collect();
        lines.push(format!("{} {}", ranks.join(","), row.uri));
    }
    lines
}

#[test]
fn the_example_of_three_colours_of_the_proposal_has_the_groups_that_it_draws() {
    let topology = topology_of(&synthetic("NUMANode:2 Core:3 PU:4"));
    // Green ranks are on one core, the blue one on another core of the same node, red ones
    // elsewhere.
    let sets = parse_sets("0;1;2;3;4-7;12-15;16-19;20-23");
    with_job(&View::whole(topology), topology, &sets, |resources| {
        let without = |lines: Vec<String>| -> Vec<String> {
            let ours = |line: &String| line.contains("hwloc://") && !line.contains("Group0");
            lines.into_iter().filter(ours).collect()
        };
        let all = "0,1,2,3,4,5,6,7 hwloc://Machine/0";
        for green in 0..4 {
            let expected = [all, "0,1,2,3,4 hwloc://NUMANode/0", "0,1,2,3 hwloc://Core/0"];
            assert_eq!(without(groups_of(&resources, green, 2)), expected);
        }
        assert_eq!(without(groups_of(&resources, 4, 2)), [all, "0,1,2,3,4 hwloc://NUMANode/0"]);
        for red in 5..8 {
            assert_eq!(without(groups_of(&resources, red, 2)), [all, "5,6,7 hwloc://NUMANode/1"]);
        }
        let alone = without(groups_of(&resources, 4, 1));
        assert_eq!(alone.last().unwrap(), "4 hwloc://Core/1");
    });
}
