//! `topobroker cluster place` on nodes with slots.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use topobroker_layout::set::{Format, Set};
use topobroker_reader::Archive;
use topobroker_samples::{GoldenMap, archived, golden_maps, golden_pus, shared};
use topobroker_tests::segments::topobroker;

/// What the program prints.
fn run(words: &[&str]) -> String {
    let output = topobroker().args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn ranks_on_nodes_with_slots_are_placed_as_in_the_golden_maps_of_prrte() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut clusters: BTreeMap<&Path, (PathBuf, _)> = BTreeMap::new();
    let maps = golden_maps(&shared);
    for GoldenMap { machine, hosts, map_by, rank_by, bind_to, count, ranks, case } in &maps {
        let (cluster, archive) = clusters.entry(machine.as_path()).or_insert_with(|| {
            let cluster = folder.path().join(machine.file_name().unwrap());
            let nodes = [0, 1, 2].map(|node| format!("node{node}={}", machine.display()));
            let built = ["cluster", "build", cluster.to_str().unwrap()];
            run(&[&built[..], &nodes.each_ref().map(String::as_str)].concat());
            (cluster, archived(machine))
        });
        let archive = Archive::open(archive).unwrap();
        let mut words = vec!["cluster", "place", "-q", cluster.to_str().unwrap(), "--nodes", hosts];
        words.extend(["--map-by", map_by, "--rank-by", rank_by, "--bind-to", bind_to]);
        let count = count.map(|count| count.to_string());
        words.extend(count.iter().flat_map(|count| ["-n", count]));
        let drawn = |line: &str| {
            let [rank, node, pus] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{case}: {line}");
            };
            let set = (pus != "-").then(|| Set::parse(pus, Format::List).unwrap());
            format!("{rank} {node} {}", golden_pus(archive.topology(), set.as_ref()))
        };
        let ours: Vec<String> = run(&words).lines().map(drawn).collect();
        assert_eq!(ours.len(), ranks.len(), "{case}");
        for (ours, right) in ours.iter().zip(ranks) {
            let devices = right.strip_prefix(ours.as_str());
            assert!(
                devices.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
                "{case}: {ours}, {right}"
            );
        }
    }
    assert!(maps.len() >= 37, "{}", maps.len());
}

#[test]
fn a_node_has_the_slots_that_follow_its_name_and_wrong_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let xml = folder.path().join("node.xml");
    std::fs::write(&xml, run(&["export", "-i", "core:4 pu:1"])).unwrap();
    let cluster = folder.path().join("cluster");
    let nodes = [1, 2].map(|node| format!("n{node}={}", xml.display()));
    run(&["cluster", "build", cluster.to_str().unwrap(), &nodes[0], &nodes[1]]);
    let place = |nodes: &str, count: &str| {
        let mut place = topobroker();
        place.args(["cluster", "place", "--nodes", nodes, "-n", count]).arg(&cluster);
        let output = place.output().unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    let right = "0 n1 0\n1 n2 0\n".to_owned();
    assert_eq!(place("n[1-2]:1", "2"), (true, right.clone()));
    let words = ["cluster", "place", cluster.to_str().unwrap(), "--nodes", "n[1-2]:1"];
    assert_eq!(run(&words), right, "one for each slot, if no number is given");
    let by_core = run(&[&words[..], &["--map-by", "core"]].concat());
    assert_eq!(by_core, right);
    assert_eq!(run(&[&words[..], &["--as", "mpirun4"]].concat()), right);
    for (nodes, count, said) in [
        ("n1:x", "1", "--nodes n1:x, slots: found \"x\", expected 1 to"),
        ("n1:0", "1", "found \"0\""),
        ("n[1-2]:1", "3", "3 ranks, 2 slots"),
        ("n1:1,n1:2", "1", "names a node twice"),
    ] {
        let (is_placed, found) = place(nodes, count);
        assert!(!is_placed && found.contains(said), "{nodes}: {found}");
    }
}
