//! Damaged clusters: what is refused, and what stays usable.

use std::collections::BTreeMap;
use topobroker_cluster::{ClusterBuilder, GroupId, Like, SwitchTree};
use topobroker_layout::cluster::blocks::Records;
use topobroker_layout::cluster::head::{HEAD_LEN, Head};
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::cluster::{Cluster, GroupKind};
use topobroker_reader::text::xml::export;
use topobroker_samples::synthetic;

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
    // Bytes between parts are never read; damage of one class leaves the other.
    println!("{refused} refused, {partly} with some nodes, {unread} with all");
    assert!(refused > 1000 && partly > 1000);
    for length in (0..bytes.len()).step_by(512) {
        let mut cut: AlignedVec = AlignedVec::new();
        cut.extend_from_slice(&bytes[..length]);
        assert!(Cluster::open(&cut).is_err(), "cut at {length}");
    }
}

/// A cluster of two nodes of one class and one of another, with something changed in a table whose
/// blocks are sealed again. `number` is the row of `table`, `at` the place in it.
fn changed_row(table: fn(&Head) -> Records, number: usize, at: usize, value: &[u8]) -> String {
    let mut bytes = of_three();
    let (_, head) = Head::read(&bytes[..HEAD_LEN], bytes.len() as u64).unwrap();
    let table = table(&head);
    // All rows of this small cluster are in the first block.
    let start = usize::try_from(table.at).unwrap();
    let end = start + usize::try_from(table.byte_len()).unwrap();
    let row = start + 8 + number * table.record as usize + at;
    bytes[row..row + value.len()].copy_from_slice(value);
    let check = xxhash_rust::xxh3::xxh3_64_with_seed(&bytes[start + 8..end], table.at);
    bytes[start..start + 8].copy_from_slice(&check.to_le_bytes());
    refusal(&bytes)
}

fn of_three() -> AlignedVec {
    let mut cluster = ClusterBuilder::new();
    let group = cluster.add_group(GroupId::CLUSTER, GroupKind::Rack, "r").unwrap();
    for (name, machine) in [("a", "PU:2"), ("b", "PU:2"), ("c", "PU:3")] {
        cluster.add_node(group, Some(name), &synthetic(machine)).unwrap();
    }
    cluster.finish().unwrap()
}

fn refusal(bytes: &AlignedVec) -> String {
    let error = Cluster::open(bytes).map(|_| ()).unwrap_err();
    topobroker_process::with_causes(&error)
}

#[test]
fn a_row_of_a_node_that_breaks_a_rule_is_refused_with_that_rule() {
    Cluster::open(&of_three()).unwrap();
    let nodes: fn(&Head) -> Records = |head| head.nodes;
    // A row: the place of the name in 4 bytes, the class in 2, the number in the class in 4, the
    // group in 4.
    for (table, number, at, value, rule) in [
        (nodes, 0, 0, &[255, 255, 255, 255][..], "the name is there"),
        (nodes, 0, 4, &[9, 0], "the class is there"),
        (nodes, 0, 6, &[1, 0, 0, 0], "is one of the nodes of its class"),
        (nodes, 0, 6, &[7, 0, 0, 0], "is one of the nodes of its class"),
        (nodes, 0, 10, &[0, 0, 0, 0], "the group has the node"),
        (nodes, 0, 10, &[9, 0, 0, 0], "the group has the node"),
        (|head| head.classes, 0, 12 * 8, &[9, 0, 0, 0], "as many nodes as there are"),
        (
            |head| head.places,
            0,
            0,
            &[3, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0],
            "is found by its name",
        ),
    ] {
        let found = changed_row(table, number, at, value);
        assert!(found.contains(rule), "{rule}: {found}");
    }
    // Two nodes of one name: the second has the place of the first one's.
    let bytes = of_three();
    let (_, head) = Head::read(&bytes[..HEAD_LEN], bytes.len() as u64).unwrap();
    let first: [u8; 4] = head.nodes.get(&bytes, 0).unwrap()[..4].try_into().unwrap();
    let found = changed_row(nodes, 1, 0, &first);
    assert!(found.contains("is found by its name"), "{found}");
}

#[test]
fn a_head_with_tables_of_other_rows_is_refused() {
    for (breaks, rule) in [
        (|head| head.nodes.record = 0, "each table has rows of its length"),
        (|head| head.nodes.record = 13, "each table has rows of its length"),
        (|head| head.places.record = 8, "each table has rows of its length"),
        (|head| head.classes.record = 0, "each table has rows of its length"),
        (|head| head.places.count = 4, "places and boots for all nodes"),
        (|head| head.nodes.at = u64::MAX - 3, "all tables are within the file"),
    ] as [(fn(&mut Head), &str); 6]
    {
        let mut bytes = of_three();
        let (header, mut head) = Head::read(&bytes[..HEAD_LEN], bytes.len() as u64).unwrap();
        breaks(&mut head);
        bytes[..HEAD_LEN].copy_from_slice(&head.to_page(&header));
        let found = refusal(&bytes);
        assert!(found.contains(rule), "{rule}: {found}");
    }
}
