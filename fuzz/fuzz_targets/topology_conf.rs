//! Any text is refused as a topology of Slurm, or its groups go into a cluster, out as text, and in
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topobroker_cluster::formats::topology_conf;
use topobroker_cluster::{ClusterBuilder, GroupId, SlurmTopology};
use topobroker_reader::cluster::Cluster;
use topobroker_samples::synthetic;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = SlurmTopology::from_yaml("yaml", text, None);
    let Ok(topology) = SlurmTopology::from_conf("conf", text) else { return };
    let mut builder = ClusterBuilder::new();
    builder.add_node(GroupId::CLUSTER, Some("n1"), &synthetic("PU:1")).expect("a node");
    if builder.apply(&topology).is_err() {
        return;
    }
    let file = builder.finish().expect("a cluster");
    let cluster = Cluster::open(&file).expect("what is built is sound");
    let groups = cluster.groups().expect("groups");
    assert_eq!(groups.iter().len(), topology.groups().len() + 1);
    if let Ok(text) = topology_conf(groups) {
        SlurmTopology::from_conf("written", &text).expect("what is written is read");
    }
});
