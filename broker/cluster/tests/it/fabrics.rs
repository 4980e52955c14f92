//! The fabrics of clusters: what InfiniBand's tools print becomes a graph.

use std::collections::BTreeMap;
use std::process::Command;
use topobroker_cluster::fabric::{End, FabricGraph};
use topobroker_cluster::{ClusterBuilder, GroupId};
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::cluster::{Cluster, GroupKind};
use topobroker_sample_clusters::{SUBNET, raw, with_fabric};
use topobroker_samples::{shared, synthetic};

#[test]
fn fabrics_of_real_clusters_are_those_of_the_reference_program() {
    let Some(raw) = raw() else { return };
    let program = shared().unwrap().join("programs/fabric.py");
    let output = Command::new("python3").arg(program).arg(&raw).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let clusters = [("avakas", "avakas", 276, 2), ("plafrim", "plafrim/hwloc", 119, 3)];
    for (name, nodes, matched, depth) in clusters {
        let (bytes, without, ports_without) = with_fabric(nodes, &raw.join(name).join(SUBNET));
        let cluster = Cluster::open(&bytes).unwrap();
        let fabric = cluster.fabric().unwrap();
        let (switches, ports) = (fabric.switches().len(), fabric.ports().len());
        let used: usize = fabric.switches().map(|switch| switch.links().len()).sum();
        let all: usize = fabric.switches().map(|switch| usize::from(switch.port_count())).sum();
        let line = said.lines().find(|line| line.starts_with(name)).unwrap();
        let expected = format!(
            "down ports {} SW {switches} CA ports {ports} links {} ",
            all - used,
            fabric.link_count()
        );
        assert!(line.contains(&expected), "{line}: {expected}");
        let mut pairs: BTreeMap<u32, usize> = BTreeMap::new();
        let ports: Vec<_> = fabric.ports().collect();
        for (place, one) in ports.iter().enumerate() {
            for other in &ports[place + 1..] {
                *pairs.entry(fabric.hops(*one, *other).unwrap()).or_default() += 1;
                assert_eq!(fabric.hops(*one, *other), fabric.hops(*other, *one));
            }
        }
        let histogram = said.lines().skip_while(|line| !line.starts_with(name)).nth(1).unwrap();
        let histogram = histogram.split(['{', '}']).nth(1).unwrap();
        let theirs: BTreeMap<u32, usize> = histogram
            .split(", ")
            .map(|pair| pair.split_once(": ").unwrap())
            .map(|(hops, count)| (hops.parse().unwrap(), count.parse().unwrap()))
            .collect();
        assert_eq!(pairs, theirs, "{name}");
        let with = cluster.nodes().filter(|node| fabric.ports_of(*node).next().is_some()).count();
        assert_eq!((with, without.len()), (matched, cluster.nodes().len() - matched), "{name}");
        assert_eq!(ports_without, ports.len() - matched, "{name}");
        // 4x QDR carries 32 Gb/s: netloc said 8.
        let qdr = fabric.switches().flat_map(|it| it.links()).filter(|it| it.mbps == Some(32_000));
        assert!(qdr.count() > 200);
        let leaf = cluster.nodes().find(|it| it.name().contains('0')).unwrap().group().unwrap();
        assert_eq!((leaf.kind(), leaf.depth()), (GroupKind::Switch, depth));
    }
}

/// The graph as `ibnetdiscover` without options prints it.
fn as_blocks(report: &str) -> String {
    let mut blocks: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut names: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut most: BTreeMap<String, u32> = BTreeMap::new();
    for line in report.lines().filter(|line| !line.starts_with("DR path")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (kind, lid, port, guid) = (words[0], words[1], words[2], &words[3][2..]);
        let most = most.entry(guid.to_owned()).or_default();
        *most = (*most).max(port.parse().unwrap());
        let block = blocks.entry((kind.to_owned(), guid.to_owned())).or_default();
        let Some((_, peers)) = line.split_once(" - ") else { continue };
        let (own, other) = peers.split_once("( '").unwrap().1.rsplit_once("' - '").unwrap();
        let other = other.strip_suffix("' )").unwrap();
        names.insert(guid.to_owned(), (own.to_owned(), lid.to_owned()));
        let peer: Vec<&str> = peers.split_whitespace().collect();
        let letter = |kind: &str| if kind == "SW" { "S" } else { "H" };
        let (width, speed) = (words[4], words[5]);
        // The adapter's GUID is one less than that of its port, as with Mellanox.
        let id = |kind: &str, guid: &str| match kind {
            "SW" => guid.to_owned(),
            _ => format!("{:016x}", u64::from_str_radix(guid, 16).unwrap() - 1),
        };
        let target = format!("\"{}-{}\"[{}]", letter(peer[0]), id(peer[0], &peer[3][2..]), peer[2]);
        block.push(match kind {
            "SW" if peer[0] == "SW" => {
                format!("[{port}]\t{target}\t\t# \"{other}\" lid {} {width}{speed}", peer[1])
            }
            "SW" => format!(
                "[{port}]\t{target}({:x}) \t\t# \"{other}\" lid {} {width}{speed}",
                u64::from_str_radix(&peer[3][2..], 16).unwrap(),
                peer[1]
            ),
            _ => format!(
                "[{port}]({:x}) \t{target}\t\t# lid {lid} lmc 0 \"{other}\" lid {} {width}{speed}",
                u64::from_str_radix(guid, 16).unwrap(),
                peer[1]
            ),
        });
    }
    let mut text = "#\n# Topology file: made by a test\n#\n".to_owned();
    for ((kind, guid), ports) in blocks {
        let (name, lid) = names.get(&guid).cloned().unwrap_or_default();
        let ports_of = most[&guid];
        text += "\nvendid=0x2c9\ndevid=0xb924\nsysimgguid=0x0\n";
        if kind == "SW" {
            text += &format!("switchguid=0x{guid}({guid})\n");
            text += &format!(
                "Switch\t{ports_of} \"S-{guid}\"\t\t# \"{name}\" base port 0 lid {lid} lmc 0\n"
            );
        } else {
            let adapter = u64::from_str_radix(&guid, 16).unwrap() - 1;
            text += &format!("caguid=0x{adapter:x}\nCa\t1 \"H-{adapter:016x}\"\t\t# \"{name}\"\n");
        }
        for port in ports {
            text += &port;
            text.push('\n');
        }
    }
    text
}

#[test]
fn both_formats_of_ibnetdiscover_give_the_same_graph() {
    let Some(raw) = raw() else { return };
    for name in ["avakas", "plafrim"] {
        let bytes = std::fs::read(raw.join(name).join(SUBNET)).unwrap();
        let report = String::from_utf8_lossy(&bytes);
        let (mut one, mut other) = (FabricGraph::default(), FabricGraph::default());
        one.add("report", &report).unwrap();
        other.add("blocks", &as_blocks(&report)).unwrap();
        let counts = |graph: &FabricGraph| {
            (graph.switch_count(), graph.port_count(), graph.link_count(), graph.unconnected())
        };
        assert_eq!(counts(&one), counts(&other), "{name}");
    }
}

/// A switch with two hosts, one of them with an odd name.
const SMALL: &str = "\
# two hosts
DR path slid 0; dlid 0; 0 -> new Switch
SW     1  1 0x00000000000000aa 4x EDR - CA     2  1 0x0000000000000001 ( 'leaf #1 (a)' - 'n1 'x' - GUID=0x5' )
SW     1  2 0x00000000000000aa 4x ??? - CA     3  1 0x0000000000000002 ( 'leaf #1 (a)' - '@ HCA-1' )
SW     1  3 0x00000000000000aa 4x SDR                                    'leaf #1 (a)'
CA     2  1 0x0000000000000001 4x EDR - SW     1  1 0x00000000000000aa ( 'n1 'x' - GUID=0x5' - 'leaf #1 (a)' )
CA     3  1 0x0000000000000002 4x ??? - SW     1  2 0x00000000000000aa ( '@ HCA-1' - 'leaf #1 (a)' )
";

#[test]
fn odd_names_unknown_speeds_and_several_planes_are_read() {
    let mut graph = FabricGraph::default();
    graph.add("small", SMALL).unwrap();
    let other = SMALL.replace("00aa", "00bb").replace("0x000000000000000", "0x000000000000010");
    graph.add("other", &other).unwrap();
    assert_eq!((graph.switch_count(), graph.port_count(), graph.unconnected()), (2, 4, 2));
    let mut builder = ClusterBuilder::new();
    for name in ["n1", "n2"] {
        builder.add_node(GroupId::CLUSTER, Some(name), &synthetic("PU:1")).unwrap();
    }
    let matching = builder.set_fabric(graph);
    assert_eq!(matching.nodes_without, [1], "n1 is found by the first word of the name");
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    let fabric = cluster.fabric().unwrap();
    let rates: Vec<Option<u32>> =
        fabric.switches().next().unwrap().links().map(|link| link.mbps).collect();
    assert_eq!(rates, [Some(100_000), None]);
    let ports: Vec<_> = fabric.ports().collect();
    let planes: std::collections::BTreeSet<u16> = ports.iter().map(|port| port.plane()).collect();
    assert_eq!((ports.len(), planes.len()), (4, 2));
    for (one, other) in ports.iter().flat_map(|one| ports.iter().map(move |other| (one, other))) {
        let expected = match (one == other, one.plane() == other.plane()) {
            (true, _) => Some(0),
            (_, true) => Some(2),
            // There is no way between planes.
            _ => None,
        };
        assert_eq!(fabric.hops(*one, *other), expected, "{one:?} {other:?}");
    }
    // The port of a node is found, and the way from it.
    let node = cluster.node(0).unwrap();
    assert_eq!(fabric.ports_of(node).len(), 2, "one in each plane");
    assert_eq!(fabric.hops_of_nodes(node, node), Some(0));
    assert_eq!(fabric.ports_of(cluster.node(1).unwrap()).len(), 0);
    let far = fabric.distances_from(node);
    assert_eq!(far.to(node).map(|way| way.hops), Some(0));
    assert_eq!(far.to(cluster.node(1).unwrap()), None);
}

#[test]
fn fabrics_that_cannot_be_are_refused_with_file_and_line() {
    let without_last: Vec<&str> = SMALL.lines().take(6).collect();
    let cases = [
        (without_last[..5].join("\n"), "line 3: the link from port 0x00000000000000aa[1]"),
        (format!("{SMALL}SW 1 1 0xaa 4x EDR nonsense\n"), "line 8: found"),
        (
            SMALL.replace("CA     3  1 0x0000000000000002", "CA     3  1 0x0000000000000001"),
            "is connected to",
        ),
        ("hello\n".to_owned(), "is no output of ibnetdiscover"),
        (
            "Switch\t2 \"S-00\" # \"x\" base port 0 lid 1\nnonsense\n".to_owned(),
            "line 2: found \"nonsense\"",
        ),
        (
            "[1] \"S-00\"[1]\nSwitch\t2 \"S-00\" # \"x\" base port 0 lid 1\n".to_owned(),
            "line 1: found",
        ),
    ];
    for (text, expected) in cases {
        let error = FabricGraph::default().add("file", &text).unwrap_err().to_string();
        assert!(error.starts_with("file") && error.contains(expected), "{error}: {expected}");
    }
}

#[test]
fn lines_of_iblinkinfo_are_read() {
    let line = |guid: u64, name: &str, lid: u32, port: u32, peer: &str| {
        format!("{guid:#018x} \"{name:>30}\" {lid:6} {port:4}[  ] ==( {peer}\n")
    };
    let up = |guid: u64, lid: u32, port: u32, name: &str| {
        format!(
            "4X          10.0 Gbps Active/  LinkUp)==>  {guid:#018x} {lid:6} {port:4}[  ] \"{name}\" ( )"
        )
    };
    let mut text = String::new();
    text += &line(0xaa, "leaf # 1", 7, 1, &up(0x1, 2, 1, "n1 HCA-1"));
    text += &line(0xaa, "leaf # 1", 7, 2, &up(0x2, 3, 1, "n2 HCA-1"));
    text +=
        &line(0xaa, "leaf # 1", 7, 3, "              Down/ Polling)==>             [  ] \"\" ( )");
    text += &line(0x1, "n1 HCA-1", 2, 1, &up(0xaa, 7, 1, "leaf # 1"));
    text += &line(0x2, "n2 HCA-1", 3, 1, &up(0xaa, 7, 2, "leaf # 1"));
    let mut graph = FabricGraph::default();
    graph.add("links", &text).unwrap();
    assert_eq!((graph.switch_count(), graph.port_count()), (1, 2));
    assert_eq!((graph.link_count(), graph.unconnected()), (2, 1));
}

/// A cluster of nodes at these switches of a chain of switches, which may be closed to a ring.
fn of_chain(switches: u64, is_ring: bool, nodes: &[(&str, &[u64])]) -> AlignedVec {
    let mut fabric = FabricGraph::default();
    let end = |guid, port| End { guid, port };
    for switch in 1..switches {
        fabric.link_switches(end(switch, 2), end(switch + 1, 1), Some(1000)).unwrap();
    }
    if is_ring {
        fabric.link_switches(end(switches, 2), end(1, 1), Some(1000)).unwrap();
    }
    let mut cluster = ClusterBuilder::new();
    let mut port = 10_000;
    for (name, at) in nodes {
        cluster.add_node(GroupId::CLUSTER, Some(name), &synthetic("PU:1")).unwrap();
        for switch in *at {
            port += 1;
            let taken = u16::try_from(port - 9_990).unwrap();
            fabric.link_host(end(port, 1), end(*switch, taken), name, Some(1000)).unwrap();
        }
    }
    cluster.set_fabric(fabric);
    cluster.finish().unwrap()
}

#[test]
fn nodes_are_as_far_apart_as_the_shortest_way_between_any_of_their_ports() {
    for switches in [400_u64, 1_500] {
        let nodes: [(&str, &[u64]); 3] = [("a", &[1]), ("b", &[switches]), ("c", &[1, switches])];
        let bytes = of_chain(switches, false, &nodes);
        let cluster = Cluster::open(&bytes).unwrap();
        let fabric = cluster.fabric().unwrap();
        let node = |name: &str| cluster.node_by_name(name).unwrap();
        let far = u32::try_from(switches).unwrap() + 1;
        for (one, other, hops) in [("a", "b", far), ("a", "c", 2), ("b", "c", 2), ("c", "c", 0)] {
            assert_eq!(fabric.hops_of_nodes(node(one), node(other)), Some(hops), "{one} {other}");
            let way = fabric.distances_from(node(one)).to(node(other));
            assert_eq!(way.map(|way| way.hops), Some(hops), "{one} {other}");
        }
    }
    // One port with links to two switches that are not connected with each other.
    let mut fabric = FabricGraph::default();
    let end = |guid, port| End { guid, port };
    for (host, port, switch, at) in [(10, 1, 1, 1), (10, 2, 2, 1), (11, 1, 2, 2), (12, 1, 1, 2)] {
        let name = format!("n{host}");
        fabric.link_host(end(host, port), end(switch, at), &name, None).unwrap();
    }
    let mut cluster = ClusterBuilder::new();
    for name in ["n10", "n11", "n12"] {
        cluster.add_node(GroupId::CLUSTER, Some(name), &synthetic("PU:1")).unwrap();
    }
    cluster.set_fabric(fabric);
    let bytes = cluster.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    let hops = |one: &str, other: &str| {
        let node = |name: &str| cluster.node_by_name(name).unwrap();
        cluster.fabric().unwrap().hops_of_nodes(node(one), node(other))
    };
    assert_eq!([hops("n10", "n11"), hops("n10", "n12")], [Some(2); 2]);
    assert_eq!(hops("n11", "n12"), None);
}

#[test]
fn pairs_of_ports_are_counted_as_the_ways_between_them_are_found() {
    let all: Vec<u64> = (1..=2_000).collect();
    let nodes: Vec<(&str, &[u64])> = vec![("a", &all[..700]), ("b", &all[700..1_300])];
    for bytes in
        [of_chain(2_000, true, &nodes), of_chain(3, true, &[("a", &[1, 1]), ("b", &[2, 3])])]
    {
        let cluster = Cluster::open(&bytes).unwrap();
        let fabric = cluster.fabric().unwrap();
        let ports: Vec<_> = fabric.ports().collect();
        let pairs = fabric.port_pairs();
        let count = ports.len() as u64;
        assert_eq!(pairs.values().sum::<u64>(), count * (count - 1) / 2);
        let mut expected = std::collections::BTreeMap::new();
        let step = 1 + ports.len() / 40;
        for (place, one) in ports.iter().enumerate().step_by(step) {
            for other in ports.iter().skip(place + 1).step_by(step) {
                let hops = fabric.hops(*one, *other);
                assert!(pairs.contains_key(&hops));
                *expected.entry(hops).or_insert(0) += 1;
            }
        }
        if step == 1 {
            assert_eq!(pairs, expected);
        }
    }
}

#[test]
fn a_cluster_is_not_built_with_a_node_of_more_than_1024_ports_or_with_names_that_a_terminal_obeys()
{
    let all = vec![1; 1025];
    let mut fabric = FabricGraph::default();
    let end = |guid, port| End { guid, port };
    for (port, _) in (1_u16..).zip(&all) {
        fabric.link_host(end(5000 + u64::from(port), 1), end(1, port), "a", None).unwrap();
    }
    fabric.link_host(end(2, 1), end(1, 2000), "x\u{1b}[31m", None).unwrap();
    let cluster = |fabric: FabricGraph| {
        let mut cluster = ClusterBuilder::new();
        cluster.add_node(GroupId::CLUSTER, Some("a"), &synthetic("PU:1")).unwrap();
        cluster.set_fabric(fabric);
        cluster
    };
    let error = cluster(fabric).finish().unwrap_err().to_string();
    assert!(error.contains("ports of a node"), "{error}");
    let mut fabric = FabricGraph::default();
    fabric.link_host(end(2, 1), end(1, 2000), "x\u{1b}[31m", None).unwrap();
    let mut builder = cluster(fabric);
    let error = builder.add_group(GroupId::CLUSTER, GroupKind::Rack, "r\u{7}").unwrap_err();
    assert!(error.to_string().contains("without control characters"), "{error}");
    let bytes = builder.finish().unwrap();
    let opened = Cluster::open(&bytes).unwrap();
    assert_eq!(opened.fabric().unwrap().ports().next().unwrap().name(), "x?[31m");
}
