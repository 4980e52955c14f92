//! Any text is refused as a fabric with file and line, or is a graph whose links are there in both
//! directions and that a cluster can have.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker_cluster::fabric::FabricGraph;
use topobroker_cluster::{ClusterBuilder, GroupId};
use topobroker_reader::cluster::Cluster;
use topobroker_samples::synthetic;

fuzz_target!(|data: &[u8]| {
    let mut graph = FabricGraph::default();
    // What a tool prints may be in any encoding.
    if let Err(error) = graph.add("file", &String::from_utf8_lossy(data)) {
        assert!(error.to_string().starts_with("file"));
        return;
    }
    let mut builder = ClusterBuilder::new();
    builder.add_node(GroupId::CLUSTER, Some("n1"), &synthetic("PU:1")).expect("a node");
    builder.set_fabric(graph);
    builder.group_by_fabric().expect("one level");
    let file = builder.finish().expect("a cluster");
    let cluster = Cluster::open(&file).expect("what is built is sound");
    let fabric = cluster.fabric().expect("a fabric");
    let all: Vec<_> = fabric.switches().chain(fabric.ports()).take(8).collect();
    for (one, other) in all.iter().zip(all.iter().rev()) {
        assert_eq!(fabric.hops(*one, *other), fabric.hops(*other, *one));
    }
});
