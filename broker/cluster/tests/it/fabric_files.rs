//! Fabrics as the tools print them on real networks: with warnings, routers and down links.

use topobroker_cluster::fabric::{FabricGraph, read_fabric};
use topobroker_cluster::{ClusterBuilder, GroupId};
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::cluster::Cluster;
use topobroker_samples::{shared, synthetic};

/// A cluster of n1 and n2 with a fabric of the cases, what does not match, and the number of
/// warnings.
fn of_case(name: &str) -> Option<(AlignedVec, topobroker_cluster::fabric::Matching, usize)> {
    let mut cluster = ClusterBuilder::new();
    for name in ["n1", "n2"] {
        cluster.add_node(GroupId::CLUSTER, Some(name), &synthetic("PU:1")).unwrap();
    }
    let fabric = read_fabric(&[shared()?.join("cases/fabric").join(name)]).unwrap();
    let warnings = fabric.warning_count();
    let matching = cluster.set_fabric(fabric);
    Some((cluster.finish().unwrap(), matching, warnings))
}

#[test]
fn warnings_of_the_tool_are_counted_and_routers_are_no_hosts() {
    let Some((bytes, matching, warnings)) = of_case("umad-warning.ib") else { return };
    assert_eq!((warnings, matching.not_of_hosts, matching.nodes.len()), (1, 1, 2));
    assert!(matching.ports_without.is_empty() && matching.nodes_without.is_empty());
    let cluster = Cluster::open(&bytes).unwrap();
    let fabric = cluster.fabric().unwrap();
    let [one, other] = cluster.nodes().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(fabric.hops_of_nodes(one, other), Some(2));
    let text = "CA 1 1 0x11 4x HDR - SW 2 1 0xa1 ( 'n1 HCA-1' - 'leaf' )\n\
                ibwarn: [7] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)\n\
                SW 2 1 0xa1 4x HDR - CA 1 1 0x11 ( 'leaf' - 'n1 HCA-1' )\n\
                CA 3 1 0x99 4x HDR - SW 2 9 0xa1 ( 'Mellanox Technologies Aggregation Node' - 'leaf' )\n\
                SW 2 9 0xa1 4x HDR - CA 3 1 0x99 ( 'leaf' - 'Mellanox Technologies Aggregation Node' )\n";
    let mut graph = FabricGraph::default();
    graph.add("f", text).unwrap();
    let none = topobroker_cluster::fabric::HostPorts::default();
    let matching = graph.matching([("n1", &none)].into_iter());
    assert_eq!((graph.warning_count(), matching.not_of_hosts), (1, 1));
    assert!(matching.ports_without.is_empty());
}

#[test]
fn what_iblinkinfo_prints_without_options_is_read() {
    let Some((bytes, matching, _)) = of_case("iblinkinfo-default.ib") else { return };
    assert_eq!((matching.nodes.len(), matching.nodes_without.len()), (1, 1));
    let cluster = Cluster::open(&bytes).unwrap();
    let fabric = cluster.fabric().unwrap();
    assert_eq!((fabric.switches().len(), fabric.link_count()), (1, 1));
    let leaf = fabric.switches().next().unwrap();
    assert_eq!((leaf.name(), leaf.port_count(), leaf.lid()), ("leaf1", 2, Some(1)));
    assert_eq!(leaf.links().next().unwrap().mbps, Some(200_000));
    let mut graph = FabricGraph::default();
    let alone = "Switch: 0x00000000000000a1 leaf1:\n   1    1[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>      11    1[  ] \"n1 HCA-1\" ( )\n";
    let twice = "CA: n1 HCA-1:\n 0x11 11 1[ ] ==( 4X 25.78125 Gbps Active/ LinkUp)==> 1 1[ ] \"l\" ( )\n\
                 CA: n2 HCA-1:\n 0x12 11 1[ ] ==( 4X 25.78125 Gbps Active/ LinkUp)==> 1 2[ ] \"l\" ( )\n";
    let said = FabricGraph::default().add("f", twice).unwrap_err().to_string();
    assert!(said.contains("f, line 4: found \"LID 11 of 0x0000000000000012"), "{said}");
    let error = graph.add("f", alone).unwrap_err().to_string();
    assert!(
        error.contains("f, line 2: found \"LID 11\"") && error.contains("--switches-only"),
        "{error}"
    );
}

#[test]
fn adapters_that_are_cabled_back_to_back_are_one_link_apart() {
    let mut cluster = ClusterBuilder::new();
    for name in ["n1", "n2"] {
        cluster.add_node(GroupId::CLUSTER, Some(name), &synthetic("PU:1")).unwrap();
    }
    let mut graph = FabricGraph::default();
    let text = "CA 1 1 0x11 4x HDR - CA 2 1 0x12 ( 'n1 HCA-1' - 'n2 HCA-1' )\n\
                CA 2 1 0x12 4x HDR - CA 1 1 0x11 ( 'n2 HCA-1' - 'n1 HCA-1' )\n";
    graph.add("f", text).unwrap();
    cluster.set_fabric(graph);
    cluster.group_by_fabric().unwrap();
    let bytes = cluster.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    let fabric = cluster.fabric().unwrap();
    let [one, other] = cluster.nodes().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(fabric.hops_of_nodes(one, other), Some(1));
    assert_eq!(fabric.port_pairs().into_iter().collect::<Vec<_>>(), [(Some(1), 1)]);
}
