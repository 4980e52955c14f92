//! The node of a cluster that this process runs on: who it is, what can be bound to, and how little is read.

use crate::cluster::of_names;
use crate::segments::topobroker;
use std::fs;
use std::process::Command;
use topobroker_cluster::{
    ClusterBuilder, GroupId, Like, NodeFile, PreparedNode, prepare, write_file,
};
use topobroker_layout::cluster::head::{HEAD_LEN, Head};
use topobroker_layout::encode::to_bytes;
use topobroker_reader::{
    FilePath, ObjectType, RestrictFlags, Set, View,
    cluster::{Cluster, ClusterOpenError, Identity, NotLocal, OwnNode, Place},
};
use topobroker_tests::synthetic;

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
    let told = Identity { is_of_kernel: false, ..here.clone() };
    assert!(cluster.node_of(&told).is_some() && OwnNode::open(file.as_path(), &told).is_ok());
    // The short name is as good.
    let long = Identity { host: "another.example.org".to_owned(), ..here };
    assert_eq!(cluster.node_of(&long), None, "the cluster has no such name");
}

#[test]
fn a_node_published_in_another_boot_is_not_the_own_one() {
    let folder = tempfile::tempdir().unwrap();
    let output = topobroker()
        .args(["publish", "--store", "file", "--folder"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let file = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let mut builder = ClusterBuilder::new();
    let node = NodeFile { file, name: Some("host".to_owned()) };
    for node in prepare(&node).unwrap() {
        builder.add(GroupId::CLUSTER, node).unwrap();
    }
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    let boot = cluster.node_by_name("host").unwrap().boot().expect("a segment tells its boot");
    let identity = |boot| Identity { host: "host".to_owned(), boot, ..Identity::default() };
    let at = |boot| cluster.node_of(&identity(boot));
    assert!(at(Some(boot)).is_some() && at(None).is_some());
    assert!(at(Some([9; 16])).is_none());
    let file = folder.path().join("cluster");
    write_file(&file, &bytes, 0o400, false).unwrap();
    let own = |boot| OwnNode::open(file.as_path(), &identity(boot));
    assert!(own(Some(boot)).is_ok());
    let error = own(Some([9; 16])).unwrap_err();
    assert!(matches!(error, ClusterOpenError::OtherBoot { .. }), "{error}");
    // A boot that cannot be read is not one that nobody knows.
    let (_, head) = Head::read(&bytes[..HEAD_LEN], bytes.len() as u64).unwrap();
    let mut damaged = bytes.clone();
    damaged[usize::try_from(head.boots.at).unwrap() + 9] ^= 1;
    write_file(&file, &damaged, 0o400, true).unwrap();
    let error = own(Some(boot)).unwrap_err();
    assert!(matches!(error, ClusterOpenError::Damaged { part: "table of boots" }), "{error}");
}

#[test]
fn the_own_node_is_read_with_few_bytes_however_many_nodes_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let like = Like::new(synthetic("NUMANode:2 L3Cache:1 L2Cache:6 L1dCache:1 Core:1 PU:1"));
    let mut most = Vec::new();
    for count in [10, 5000] {
        let mut builder = ClusterBuilder::new();
        for number in 0..count {
            let name = Like::name(number);
            builder.add_node(GroupId::CLUSTER, Some(&name), &like.node(number)).unwrap();
        }
        let file = folder.path().join(count.to_string());
        fs::write(&file, builder.finish().unwrap()).unwrap();
        let path = FilePath::from_bytes(file.as_os_str().as_encoded_bytes());
        let host = Like::name(count - 3);
        let own =
            OwnNode::open(&path, &Identity { host: host.clone(), ..Identity::default() }).unwrap();
        assert_eq!((own.name(), own.number()), (host.as_str(), count - 3));
        assert_eq!(own.topology().objects_with_type(ObjectType::PU).count(), 12);
        let trace = folder.path().join("trace");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-y", "-e", "trace=pread64,mmap,read", "-o"]).arg(&trace);
        strace.arg(env!("CARGO_BIN_EXE_adopter")).arg("own-node");
        strace.env("TOPOBROKER_CLUSTER", &file).env("TOPOBROKER_HOST", &host);
        let output = strace.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.starts_with(&format!("ok {host} ")), "{output:?}");
        most.push(bytes_of(&fs::read_to_string(trace).unwrap(), file.to_str().unwrap()));
    }
    println!("{most:?} bytes read and mapped");
    assert!(most.iter().all(|bytes| *bytes > 4096 && *bytes <= 32 * 1024), "{most:?}");
}

/// Bytes that a program read and mapped of a file, from what strace wrote.
fn bytes_of(trace: &str, file: &str) -> u64 {
    let lines = trace.lines().filter(|line| line.contains(&format!("<{file}>")));
    let bytes = lines.map(|line| match line.contains("mmap(") {
        true => line.split(", ").nth(1).and_then(|it| it.parse().ok()).unwrap_or(0),
        false => line.rsplit("= ").next().and_then(|it| it.parse::<u64>().ok()).unwrap_or(0),
    });
    bytes.sum()
}
