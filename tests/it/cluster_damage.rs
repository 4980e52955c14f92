//! Damaged clusters: what is refused, and what stays usable.

use crate::cluster::of_names;
use crate::segments::topobroker;
use std::collections::BTreeMap;
use std::fs;
use topobroker::cluster::{ClusterBuilder, GroupId, Like, PreparedNode, SwitchTree};
use topobroker::format::xml::export;
use topobroker_layout::cluster::head::{HEAD_LEN, Head};
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::{Cluster, ClusterOpenError};
use topobroker_tests::synthetic;

#[test]
fn a_damaged_cluster_is_refused_or_right() {
    let mut cluster = ClusterBuilder::new();
    let like = Like::new(synthetic("NUMANode:2 Core:2 PU:2"));
    for number in 0..40 {
        cluster.add_node(GroupId::CLUSTER, Some(&Like::name(number)), &like.node(number)).unwrap();
    }
    let other = synthetic("Package:2 PU:4");
    cluster.add_node(GroupId::CLUSTER, Some("other"), &other).unwrap();
    SwitchTree { nodes_a_leaf: 4, leaves_a_pod: 2, spines_a_pod: 2 }
        .add_to(&mut cluster, 40)
        .unwrap();
    let bytes = cluster.finish().unwrap();
    let exports = |bytes: &AlignedVec| -> BTreeMap<String, String> {
        let Ok(cluster) = Cluster::open(bytes) else { return BTreeMap::new() };
        let opened = cluster.nodes().filter_map(|node| Some((node, node.open().ok()?)));
        let all =
            opened.map(|(node, it)| (node.name().to_owned(), export(it.archive().topology())));
        all.collect()
    };
    let right = exports(&bytes);
    assert_eq!(right.len(), 41);
    let mut random = fastrand::Rng::with_seed(1);
    let (mut refused, mut partly, mut unread) = (0, 0, 0);
    for _ in 0..10_000 {
        let mut damaged = bytes.clone();
        let bit = random.usize(..bytes.len() * 8);
        damaged[bit / 8] ^= 1 << (bit % 8);
        let found = exports(&damaged);
        assert!(found.iter().all(|(name, xml)| right.get(name) == Some(xml)), "bit {bit}");
        match found.len() {
            0 => refused += 1,
            41 => unread += 1,
            _ => partly += 1,
        }
        if let Ok(cluster) = Cluster::open(&damaged) {
            let groups = cluster.groups().map(|groups| groups.iter().count());
            assert!(groups.is_err() || groups.unwrap() == 16, "bit {bit}");
        }
    }
    // Bytes between parts are read by nobody; damage of one class leaves the other.
    println!("{refused} refused, {partly} with some nodes, {unread} with all");
    assert!(refused > 1000 && partly > 1000);
    for length in (0..bytes.len()).step_by(512) {
        let mut cut: AlignedVec = AlignedVec::new();
        cut.extend_from_slice(&bytes[..length]);
        assert!(Cluster::open(&cut).is_err(), "cut at {length}");
    }
}

#[test]
fn a_part_that_is_damaged_is_named_and_others_stay_usable() {
    let mut bytes = of_names(&["a", "b"]);
    let (_, head) = Head::read(&bytes[..HEAD_LEN], bytes.len() as u64).unwrap();
    let flip = |bytes: &mut AlignedVec, at: u64| bytes[usize::try_from(at).unwrap()] ^= 1;
    flip(&mut bytes, head.directory.at);
    let cluster = Cluster::open(&bytes).unwrap();
    assert!(cluster.node_by_name("a").unwrap().open().is_ok());
    let error = cluster.groups().unwrap_err().to_string();
    assert!(error.contains("groups and links of the cluster cannot be used; nodes can"), "{error}");
    flip(&mut bytes, head.directory.at);
    flip(&mut bytes, head.nodes.at + 9);
    let error = Cluster::open(&bytes).unwrap_err();
    assert!(matches!(error, ClusterOpenError::Damaged { part: "table of nodes" }), "{error}");
    flip(&mut bytes, head.nodes.at + 9);
    // A class and the commands that meet it: what is sound is written, the rest named.
    let mut builder = ClusterBuilder::new();
    for (name, machine) in [("a", "Core:2 PU:2"), ("b", "Core:3 PU:1"), ("c", "Core:2 PU:2")] {
        let archive = to_bytes(&synthetic(machine)).unwrap();
        let node = PreparedNode::of_archive(archive, Some(name), "a test").unwrap();
        builder.add(GroupId::CLUSTER, node).unwrap();
    }
    let mut bytes = builder.finish().unwrap();
    let class = Cluster::open(&bytes).unwrap().node_by_name("b").unwrap().class();
    let at = Cluster::open(&bytes).unwrap().class_bytes(class).unwrap().start;
    flip(&mut bytes, at + 200);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("c"), &bytes).unwrap();
    for (arguments, written) in [
        (&["ls", "c"][..], &["a class", "b class", "c class"][..]),
        (&["export", "c", "--nodes", "all"], &[]),
        (&["diff", "c", "c"], &[]),
    ] {
        let mut command = topobroker();
        let output = command.arg("cluster").args(arguments).current_dir(folder.path()).output();
        let output = output.unwrap();
        let (out, said) = (output.stdout, String::from_utf8(output.stderr).unwrap());
        let out = String::from_utf8(out).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        let named = format!("class {class} of the cluster cannot be used");
        assert!(said.contains(&named), "{arguments:?}: {said}");
        assert!(written.iter().all(|text| out.contains(text)), "{arguments:?}: {out}");
    }
    let mut exported: Vec<_> = fs::read_dir(folder.path().join("all"))
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    exported.sort();
    assert_eq!(exported, ["a.xml", "c.xml"]);
}
