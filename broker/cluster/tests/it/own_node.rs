//! The node of a cluster that this process runs on: who it is, what can be bound to, and how little
//! is read.

use topobroker_cluster::{ClusterBuilder, GroupId, PreparedNode, write_file};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{
    ObjectType, RestrictFlags, Set, View,
    cluster::{Cluster, ClusterOpenError, Identity, NotLocal, OwnNode, Place},
};
use topobroker_sample_clusters::of_names;
use topobroker_samples::synthetic;

#[test]
fn only_objects_of_the_own_node_can_be_bound_to() {
    let bytes = of_names(&["alpha", "beta"]);
    let cluster = Cluster::open(&bytes).unwrap();
    let here = Identity {
        host: "alpha.example.org".to_owned(),
        boot: Some([1; 16]),
        ..Identity::default()
    };
    assert_eq!(cluster.node_of(&here).unwrap().name(), "alpha");
    let elsewhere = Identity { host: "gamma".to_owned(), ..Identity::default() };
    assert_eq!(cluster.node_of(&elsewhere), None, "no wrong node on a foreign host");
    // This process is on neither.
    let node = cluster.node_by_name("beta").unwrap();
    assert_eq!(node.place(), Place::Remote);
    let opened = node.open().unwrap();
    let archive = opened.archive();
    let core = archive.topology().objects_with_type(ObjectType::Core).next().unwrap();
    assert!(core.cpuset().is_some(), "sets of other nodes can be read");
    let refused = opened.bindable(core).unwrap_err();
    assert_eq!(refused, NotLocal::Remote { host: "beta".to_owned() });
    assert!(refused.to_string().contains("beta"), "{refused}");
}

#[test]
fn an_object_of_one_node_is_none_of_another_one_of_its_class() {
    let mut builder = ClusterBuilder::new();
    for name in ["alpha", "beta"] {
        let mut description = synthetic("Core:2 PU:2");
        description.objects[0].infos.push(("HostName".to_owned(), name.to_owned()));
        let archive = to_bytes(&description).unwrap();
        builder
            .add(GroupId::CLUSTER, PreparedNode::of_archive(archive, None, name).unwrap())
            .unwrap();
    }
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    assert_eq!(cluster.class_count(), 1);
    let [alpha, beta] =
        ["alpha", "beta"].map(|name| cluster.node_by_name(name).unwrap().open().unwrap());
    let archive = beta.archive();
    let view = View::new(archive.topology(), &Set::from_iter([0, 1]), RestrictFlags::NONE).unwrap();
    for object in [archive.topology().root(), view.topology().root()] {
        let refused = alpha.bindable(object).unwrap_err();
        assert_eq!(refused, NotLocal::OtherTopology { host: "alpha".to_owned() });
        assert_eq!(
            beta.bindable(object).unwrap_err(),
            NotLocal::Remote { host: "beta".to_owned() }
        );
    }
}

#[test]
fn a_node_is_the_own_one_only_if_hwloc_found_this_host_name_there() {
    let here = Identity { is_of_kernel: true, ..Identity::of_this_process() };
    let mut builder = ClusterBuilder::new();
    let mut description = synthetic("Core:2 PU:2");
    description.objects[0].infos.push(("HostName".to_owned(), "another".to_owned()));
    let archive = to_bytes(&description).unwrap();
    let node = PreparedNode::of_archive(archive, Some(&here.host), "a test").unwrap();
    builder.add(GroupId::CLUSTER, node).unwrap();
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    assert_eq!(cluster.node_of(&here), None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cluster");
    write_file(&file, &bytes, 0o400, false).unwrap();
    let error = OwnNode::open(file.as_path(), &here).unwrap_err();
    assert!(matches!(error, ClusterOpenError::OtherHost { .. }), "{error}");
    // Who says otherwise is believed.
    let declared = Identity { is_of_kernel: false, ..here.clone() };
    assert!(
        cluster.node_of(&declared).is_some() && OwnNode::open(file.as_path(), &declared).is_ok()
    );
    // The short name is as good.
    let long = Identity { host: "another.example.org".to_owned(), ..here };
    assert_eq!(cluster.node_of(&long), None, "the cluster has no such name");
}
