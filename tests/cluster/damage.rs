//! Damaged clusters: what is named, and what stays usable.

use std::fs;
use topobroker_cluster::{ClusterBuilder, GroupId, PreparedNode};
use topobroker_layout::cluster::head::{HEAD_LEN, Head};
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::cluster::{Cluster, ClusterOpenError};
use topobroker_sample_clusters::of_names;
use topobroker_samples::synthetic;
use topobroker_tests::segments::topobroker;

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
        (&["ls", "c", "--nodes"][..], &["a class", "b class", "c class"][..]),
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
