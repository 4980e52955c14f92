//! Nodes that no cluster can have.

use topobroker_cluster::{ClusterBuilder, ClusterError, GroupId};
use topobroker_samples::synthetic;

#[test]
fn inputs_that_hwloc_assembler_took_are_errors_by_name() {
    let empty = ClusterBuilder::new().finish().unwrap_err();
    assert!(matches!(empty, ClusterError::Empty), "{empty}");
    let mut builder = ClusterBuilder::new();
    let node = synthetic("PU:2");
    builder.add_node(GroupId::CLUSTER, Some("a"), &node).unwrap();
    let twice = builder.add_node(GroupId::CLUSTER, Some("a"), &synthetic("PU:4")).unwrap_err();
    assert!(twice.to_string().contains("the node \"a\" is there twice"), "{twice}");
    let no_name = builder.add_node(GroupId::CLUSTER, None, &node);
    let long = "n".repeat(256);
    for (name, part) in [("", "\"\""), (long.as_str(), "1 to 255 bytes"), ("a\nb", "a\\nb")] {
        let error = builder.add_node(GroupId::CLUSTER, Some(name), &node).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    // A synthetic machine has no host name.
    assert!(matches!(no_name, Err(ClusterError::NoName { .. })), "{no_name:?}");
    builder.add_node(GroupId::CLUSTER, Some(&"n".repeat(255)), &node).unwrap();
    assert!(builder.finish().is_ok());
}
