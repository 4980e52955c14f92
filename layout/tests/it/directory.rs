//! Breaks each rule of the groups and the fabric of a cluster, one at a time.

use std::error::Error;
use topobroker_layout::cluster::directory::{Directory, Fabric, Groups};
use topobroker_layout::cluster::rules::open;
use topobroker_layout::column::Column;
use topobroker_layout::packed_texts::pack_texts;

fn pack(values: &[u64]) -> Column {
    Column::pack(values)
}

/// Four nodes below two leaf switches, which a spine connects. Node 0 has two ports, and one port
/// is of no node.
fn right() -> Directory {
    let (name_end, names) = pack_texts(["", "spine", "leaf1", "leaf2"]);
    let (missing_end, missing) = pack_texts(["n7"]);
    let (sizes_end, sizes) = pack_texts(["2,4", "", "", ""]);
    let groups = Groups {
        parent: pack(&[0, 0, 1, 1]),
        end: pack(&[4, 4, 3, 4]),
        kind: pack(&[0, 1, 1, 1]),
        speed: pack(&[0; 4]),
        name_end,
        names,
        sizes_end,
        sizes,
        member_first: pack(&[0, 0, 0, 2]),
        member_end: pack(&[4, 4, 2, 4]),
        members: pack(&[0, 2, 1, 3]),
        missing_end,
        missing,
    };
    // Vertices: leaf 0, leaf 1, spine 2, then ports: of no node, of node 0 twice, of nodes 1, 2, 3.
    let links: [&[(u64, u64, u64)]; 9] = [
        &[(2, 1, 1), (4, 2, 1), (7, 3, 1), (3, 4, 1)],
        &[(2, 1, 2), (5, 2, 1), (6, 3, 1), (8, 4, 1)],
        &[(0, 1, 1), (1, 2, 1)],
        &[(0, 1, 4)],
        &[(0, 1, 2)],
        &[(1, 1, 2)],
        &[(1, 1, 3)],
        &[(0, 1, 3)],
        &[(1, 1, 4)],
    ];
    let mut first = vec![0];
    first.extend(links.iter().scan(0, |end, own| {
        *end += own.len() as u64;
        Some(*end)
    }));
    let all: Vec<(u64, u64, u64)> = links.concat();
    let column =
        |value: fn(&(u64, u64, u64)) -> u64| pack(&all.iter().map(value).collect::<Vec<_>>());
    let (name_end, names) = pack_texts(["l0", "l1", "s", "x", "a", "b", "c", "d", "e"]);
    let fabric = Fabric {
        guid: pack(&[10, 11, 12, 20, 21, 22, 23, 24, 25]),
        switches: 3,
        name_end,
        names,
        ports: pack(&[4, 4, 2, 1, 1, 1, 1, 1, 1]),
        lid: pack(&[1; 9]),
        node: pack(&[0, 0, 0, 0, 1, 1, 2, 3, 4]),
        plane: pack(&[0; 9]),
        link_first: pack(&first),
        peer: column(|it| it.0),
        port: column(|it| it.1),
        peer_port: column(|it| it.2),
        rate: pack(&vec![100_000; all.len()]),
        leaf: pack(&[1, 2, 3, 1, 1, 2, 2, 1, 2]),
        port_first: pack(&[1, 3, 4, 5, 6]),
        row_of: pack(&[1, 2, 0]),
        hops: pack(&[0, 3, 0]),
    };
    Directory { groups, fabric }
}

/// What breaks a rule, and the column and a part of the rule in the error.
type Rule = (fn(&mut Directory), &'static str, &'static str);

const RULES: [Rule; 29] = [
    (|it| it.groups.members = pack(&[0, 2, 1]), "groups.members", "has each node"),
    (|it| it.groups.members = pack(&[0, 2, 2, 3]), "groups.members", "has each node once"),
    (|it| it.groups.parent = pack(&[0, 0, 3, 1]), "groups.parent", "before those in it"),
    (|it| it.groups.end = pack(&[4, 4, 3, 3]), "groups.end", ""),
    (|it| it.groups.end = pack(&[3, 4, 3, 4]), "groups.end", "all groups are in the cluster"),
    (|it| it.groups.parent = pack(&[0, 0, 0, 1]), "groups.end", "up to its end"),
    (|it| it.groups.end = pack(&[4, 4, 4, 4]), "groups.end", "up to its end"),
    (|it| it.groups.kind = pack(&[0, 9, 1, 1]), "groups.kind", ""),
    (|it| it.groups.member_end = pack(&[3, 4, 2, 4]), "groups.member_end", "all nodes"),
    (|it| it.groups.member_end = pack(&[4, 2, 2, 4]), "groups.member_first", "of the parent"),
    (|it| it.groups.member_first = pack(&[0, 0, 0, 1]), "groups.member_first", "different members"),
    (
        |it| (it.groups.name_end, it.groups.names) = pack_texts(["", "s\u{1b}", "l", "m"]),
        "groups.names",
        "control characters",
    ),
    (
        |it| (it.groups.sizes_end, it.groups.sizes) = pack_texts(["2\u{7}", "", "", ""]),
        "groups.sizes",
        "control characters",
    ),
    (
        |it| (it.groups.sizes_end, it.groups.sizes) = pack_texts(["2", "", ""]),
        "groups.sizes_end",
        "",
    ),
    (
        |it| (it.groups.missing_end, it.groups.missing) = pack_texts(["n\n"]),
        "groups.missing",
        "control characters",
    ),
    (|it| it.fabric.switches = 10, "fabric.switches", "are vertices"),
    (|it| it.fabric.hops = pack(&[0, 3, 3, 0]), "fabric.hops", "up to itself"),
    (|it| it.fabric.hops = pack(&[0, 9, 0]), "fabric.hops", ""),
    (|it| it.fabric.row_of = pack(&[1, 3, 0]), "fabric.hops", "up to itself"),
    (
        |it| it.fabric.link_first = pack(&[1, 4, 8, 10, 11, 12, 13, 14, 15, 16]),
        "fabric.link_first",
        "has all links",
    ),
    (
        |it| it.fabric.node = pack(&[1, 0, 0, 0, 1, 1, 2, 3, 4]),
        "fabric.node",
        "a switch is of no node",
    ),
    (|it| it.fabric.node = pack(&[0, 0, 0, 0, 1, 2, 2, 3, 4]), "fabric.node", "are a run"),
    (
        |it| it.fabric.port_first = pack(&[1, 3, 4, 5, 5]),
        "fabric.port_first",
        "up to the last port",
    ),
    (|it| it.fabric.port_first = pack(&[3, 1, 4, 5, 6]), "fabric.port_first", "ascends"),
    (|it| it.fabric.leaf = pack(&[1, 2, 3, 1, 1, 2, 2, 1, 1]), "fabric.leaf", "only link"),
    (
        // The last port is linked to both leaves.
        |it| {
            it.fabric.link_first = pack(&[0, 5, 9, 11, 12, 13, 14, 15, 16, 18]);
            it.fabric.peer = pack(&[2, 4, 7, 3, 8, 2, 5, 6, 8, 0, 1, 0, 0, 1, 1, 0, 1, 0]);
            it.fabric.port = pack(&[1, 2, 3, 4, 5, 1, 2, 3, 4, 1, 2, 1, 1, 1, 1, 1, 1, 2]);
            it.fabric.peer_port = pack(&[1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 4, 2, 2, 3, 3, 4, 5]);
            it.fabric.rate = pack(&[100_000; 18]);
        },
        "fabric.leaf",
        "only link",
    ),
    (|it| it.fabric.peer_port = pack(&[2; 16]), "fabric.peer", "once in each direction"),
    (|it| it.fabric.port = pack(&[1; 16]), "fabric.port", "ports of a vertex ascend"),
    (|it| it.fabric.guid = pack(&[1]), "fabric", ""),
];

#[test]
fn a_directory_that_breaks_a_rule_is_refused_with_that_rule() {
    open(&right().to_bytes().unwrap(), 4, false).unwrap();
    for (breaks, column, rule) in RULES {
        let mut broken = right();
        breaks(&mut broken);
        let error = open(&broken.to_bytes().unwrap(), 4, false).map(|_| ()).unwrap_err();
        let error = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        assert!(error.contains(column) && error.contains(rule), "{column} {rule:?}: {error}");
    }
}

#[test]
fn a_node_has_1024_ports_at_most() {
    for (count, is_right) in [(1024, true), (1025, false)] {
        let (name_end, names) = pack_texts(vec![""; count]);
        let all = |value: u64| pack(&vec![value; count]);
        let guid: Vec<u64> = (0..count as u64).collect();
        let fabric = Fabric {
            guid: pack(&guid),
            name_end,
            names,
            ports: all(1),
            lid: all(0),
            node: all(1),
            plane: all(0),
            link_first: pack(&vec![0; count + 1]),
            leaf: all(0),
            port_first: pack(&[0, count as u64]),
            ..Fabric::default()
        };
        let (name_end, names) = pack_texts([""]);
        let (sizes_end, sizes) = pack_texts([""]);
        let groups = Groups {
            parent: pack(&[0]),
            end: pack(&[1]),
            kind: pack(&[0]),
            speed: pack(&[0]),
            name_end,
            names,
            sizes_end,
            sizes,
            member_first: pack(&[0]),
            member_end: pack(&[1]),
            members: pack(&[0]),
            ..Groups::default()
        };
        let bytes = Directory { groups, fabric }.to_bytes().unwrap();
        let found = open(&bytes, 1, false).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(found.is_ok(), is_right, "{found:?}");
    }
}

#[test]
fn the_group_of_a_node_is_the_lowest_that_has_it() {
    let bytes = right().to_bytes().unwrap();
    assert_eq!(open(&bytes, 4, false).unwrap().groups.of_nodes(), [2, 3, 2, 3]);
}
