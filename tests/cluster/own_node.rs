//! The own node of a cluster: by which boot it is known, and how little of a large cluster is read.

use std::fs;
use std::process::Command;
use topobroker_cluster::{ClusterBuilder, GroupId, Like, NodeFile, Owners, prepare, write_file};
use topobroker_layout::cluster::head::{HEAD_LEN, Head};
use topobroker_reader::{
    FilePath, ObjectType,
    cluster::{Cluster, ClusterOpenError, Identity, OwnNode},
};
use topobroker_samples::synthetic;
use topobroker_tests::segments::{adopter_file, topobroker};

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
    let node = NodeFile { file, name: Some("host".to_owned()), owners: Owners::Trusted };
    for node in prepare(&node).unwrap() {
        builder.add(GroupId::CLUSTER, node).unwrap();
    }
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    let boot = cluster.node_by_name("host").unwrap().boot().expect("a segment has its boot");
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
    // A boot that cannot be read is not an unknown one.
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
        strace.arg(adopter_file()).arg("own-node");
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
