//! Clusters: many nodes in one file, on real clusters and on hand-made ones.

use crate::segments::topobroker;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tempfile::TempDir;
use topobroker::cluster::gather::{Known, NodeReport};
use topobroker::cluster::{
    ClusterBuilder, ClusterError, GroupId, Like, NodeFile, PreparedNode, SwitchTree, fold, prepare,
    prepare_all, write_file,
};
use topobroker::format::xml::export;
use topobroker_layout::cluster::head::{HEAD_LEN, Head};
use topobroker_layout::cluster::nodes::ClassRow;
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::{
    Archive, Cluster, ClusterOpenError, FilePath, GroupKind, Identity, NotLocal, ObjectType,
    OwnNode, Place, RestrictFlags, Set, View,
};
use topobroker_tests::{shared, synthetic};

/// The clusters of the reference data, unpacked once for all tests of this process.
pub(crate) static UNPACKED: LazyLock<Option<TempDir>> = LazyLock::new(|| {
    let shared = shared()?;
    let folder = tempfile::tempdir().unwrap();
    for (name, _, _, _) in CLUSTERS {
        unpack(&shared, name.split('/').next().unwrap(), folder.path());
    }
    Some(folder)
});

fn unpack(shared: &Path, name: &str, folder: &Path) {
    let archive = match name {
        "avakas" => "avakas-full",
        name => name,
    };
    let archive = shared.join(format!("clusters/{archive}.tar.xz"));
    let status = Command::new("tar").arg("xJf").arg(archive).arg("-C").arg(folder).status();
    assert!(status.unwrap().success(), "{name} is unpacked");
}

/// Folders of nodes: number of nodes, most classes, and most bytes a node beside them.
const CLUSTERS: [(&str, usize, u32, f64); 6] = [
    ("avakas", 276, 13, 80.0),
    ("plafrim/hwloc", 122, 18, 120.0),
    ("aws_eks_cpu_size64", 64, 1, 150.0),
    ("aws_eks_gpu_size8", 8, 1, 150.0),
    ("google_compute-engine_gpu_size8", 8, 1, 150.0),
    ("google_gke_cpu_size32", 32, 1, 150.0),
];

/// The files of a cluster, with their names as names of nodes.
fn files_of(cluster: &str) -> Option<Vec<NodeFile>> {
    let folder = UNPACKED.as_ref()?.path().join(cluster);
    let files = topobroker::cluster::files_in(&folder).unwrap();
    let xml = files.into_iter().filter(|it| it.extension().is_some_and(|it| it == "xml"));
    Some(xml.map(|file| NodeFile { name: Some(stem(&file)), file }).collect())
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap().to_string_lossy().into_owned()
}

fn build(files: &[NodeFile], threads: usize) -> AlignedVec {
    let mut cluster = ClusterBuilder::new();
    let added = prepare_all(files, threads, |_, nodes| {
        nodes?.into_iter().try_for_each(|node| cluster.add(GroupId::CLUSTER, node))
    });
    added.unwrap();
    cluster.finish().unwrap()
}

/// A cluster of synthetic nodes with these names.
fn of_names(names: &[&str]) -> AlignedVec {
    let mut cluster = ClusterBuilder::new();
    for name in names {
        cluster.add_node(GroupId::CLUSTER, Some(name), &synthetic("Core:2 PU:2")).unwrap();
    }
    cluster.finish().unwrap()
}

#[test]
fn every_node_of_every_cluster_is_exported_as_the_node_alone() {
    for (name, count, _, _) in CLUSTERS {
        let Some(files) = files_of(name) else { return };
        assert_eq!(files.len(), count, "{name}");
        let bytes = build(&files, 2);
        let cluster = Cluster::open(&bytes).unwrap();
        assert_eq!(cluster.nodes().len(), count);
        for node in &files {
            let alone =
                topobroker_tests::describe(&topobroker::hwloc::Input::Xml(node.file.clone()));
            let archive = to_bytes(&alone).unwrap();
            let alone = export(Archive::open(&archive).unwrap().topology());
            let there = cluster.node_by_name(node.name.as_ref().unwrap()).unwrap().open().unwrap();
            let there = export(there.archive().topology());
            assert!(alone == there, "{name}: {} differs", node.file.display());
        }
    }
}

#[test]
fn clusters_have_few_classes_and_few_bytes_a_node() {
    for (name, count, classes, bytes_a_node) in CLUSTERS {
        let Some(files) = files_of(name) else { return };
        let bytes = build(&files, 2);
        let cluster = Cluster::open(&bytes).unwrap();
        assert!(cluster.class_count() <= classes, "{name}: {} classes", cluster.class_count());
        let (_, head) = Head::read(&bytes[..HEAD_LEN], bytes.len() as u64).unwrap();
        let rows = (0..head.classes.count).map(|class| {
            let row = ClassRow::read(head.classes.get(&bytes, class).unwrap()).unwrap();
            row.slots.len + row.rows.byte_len() + u64::from(row.texts.len)
        });
        let own = rows.sum::<u64>() as f64 / count as f64;
        assert!(own <= bytes_a_node, "{name}: {own} bytes a node");
        println!(
            "{name}: {} classes, {own:.1} bytes a node, {} in all",
            cluster.class_count(),
            bytes.len()
        );
    }
}

#[test]
fn the_same_nodes_in_any_order_give_the_same_bytes_but_for_the_header() {
    let Some(mut files) = files_of("plafrim/hwloc") else { return };
    let one = build(&files, 1);
    fastrand::Rng::with_seed(7).shuffle(&mut files);
    let other = build(&files, 2);
    assert_eq!(one[160..], other[160..]);
}

#[test]
fn views_and_tables_of_a_node_are_those_of_the_node_alone() {
    let Some(files) = files_of("plafrim/hwloc") else { return };
    let bytes = build(&files, 2);
    let cluster = Cluster::open(&bytes).unwrap();
    for node in files.iter().step_by(7) {
        let alone = topobroker_tests::describe(&topobroker::hwloc::Input::Xml(node.file.clone()));
        let archive = to_bytes(&alone).unwrap();
        let alone = Archive::open(&archive).unwrap();
        let there = cluster.node_by_name(node.name.as_ref().unwrap()).unwrap().open().unwrap();
        let there = there.archive();
        let (alone, there) = (alone.topology(), there.topology());
        for (own, other) in alone.objects().zip(there.objects()) {
            assert_eq!(own.os_index(), other.os_index());
            assert_eq!(own.total_memory(), other.total_memory());
            assert_eq!(own.name(), other.name());
            assert!(other.name().is_none_or(|name| other.is_named(name)));
        }
        let set: Set = [0, 1, 3].into_iter().collect();
        let flags = RestrictFlags::from_bits(0);
        let own = View::new(alone, &set, flags).unwrap();
        let other = View::new(there, &set, flags).unwrap();
        assert_eq!(export(own.topology()), export(other.topology()));
        let devices = |topology: topobroker_reader::Topology<'_>| -> Vec<String> {
            let pci = topology.objects_with_type(ObjectType::PCIDevice);
            pci.map(|it| format!("{:?} {:?}", it.attributes(), it.os_index())).collect()
        };
        assert_eq!(devices(alone), devices(there));
    }
}

#[test]
fn a_damaged_cluster_is_refused_or_right() {
    let mut cluster = ClusterBuilder::new();
    let like = Like::new(synthetic("NUMANode:2 Core:2 PU:2"));
    for number in 0..40 {
        cluster.add_node(GroupId::CLUSTER, Some(&Like::name(number)), &like.node(number)).unwrap();
    }
    let other = synthetic("Package:2 PU:4");
    cluster.add_node(GroupId::CLUSTER, Some("other"), &other).unwrap();
    SwitchTree { nodes_a_leaf: 4, leaves_a_pod: 2, spines_a_pod: 2 }
        .add_to(&mut cluster, 40)
        .unwrap();
    let bytes = cluster.finish().unwrap();
    let exports = |bytes: &AlignedVec| -> BTreeMap<String, String> {
        let Ok(cluster) = Cluster::open(bytes) else { return BTreeMap::new() };
        let opened = cluster.nodes().filter_map(|node| Some((node, node.open().ok()?)));
        let all =
            opened.map(|(node, it)| (node.name().to_owned(), export(it.archive().topology())));
        all.collect()
    };
    let right = exports(&bytes);
    assert_eq!(right.len(), 41);
    let mut random = fastrand::Rng::with_seed(1);
    let (mut refused, mut partly, mut unread) = (0, 0, 0);
    for _ in 0..10_000 {
        let mut damaged = bytes.clone();
        let bit = random.usize(..bytes.len() * 8);
        damaged[bit / 8] ^= 1 << (bit % 8);
        let found = exports(&damaged);
        assert!(found.iter().all(|(name, xml)| right.get(name) == Some(xml)), "bit {bit}");
        match found.len() {
            0 => refused += 1,
            41 => unread += 1,
            _ => partly += 1,
        }
        if let Ok(cluster) = Cluster::open(&damaged) {
            let groups = cluster.groups().map(|groups| groups.iter().count());
            assert!(groups.is_err() || groups.unwrap() == 16, "bit {bit}");
        }
    }
    // Bytes between parts are read by nobody; damage of one class leaves the other.
    println!("{refused} refused, {partly} with some nodes, {unread} with all");
    assert!(refused > 1000 && partly > 1000);
    for length in (0..bytes.len()).step_by(512) {
        let mut cut: AlignedVec = AlignedVec::new();
        cut.extend_from_slice(&bytes[..length]);
        assert!(Cluster::open(&cut).is_err(), "cut at {length}");
    }
}

#[test]
fn what_is_above_a_node_is_found_from_each_object_and_has_no_set() {
    // The example of hwloc 1.11's manual, and its test: 8 hosts below 4 groups below 2.
    let mut builder = ClusterBuilder::new();
    let host = synthetic("NUMANode:2 Package:2 L3Cache:1 Core:2 L2Cache:2 PU:2");
    let mut number = 0;
    for upper in 0..2 {
        let upper = builder
            .add_group(GroupId::CLUSTER, GroupKind::Switch, &format!("upper{upper}"))
            .unwrap();
        for _ in 0..2 {
            let name = format!("lower{}", number / 2);
            let lower = builder.add_group(upper, GroupKind::Switch, &name).unwrap();
            for _ in 0..2 {
                builder.add_node(lower, Some(&format!("host{number}")), &host).unwrap();
                number += 1;
            }
        }
    }
    let only = builder.add_group(GroupId::CLUSTER, GroupKind::Rack, "with one child").unwrap();
    builder.add_group(only, GroupKind::Group, "without nodes").unwrap();
    let bytes = builder.finish().unwrap();
    let cluster = Cluster::open(&bytes).unwrap();
    assert_eq!(cluster.class_count(), 1);
    let totals = cluster.totals().unwrap();
    assert_eq!((totals.nodes, totals.pus, totals.cores), (8, 8 * 32, 8 * 8));
    let groups = cluster.groups().unwrap();
    assert_eq!(groups.iter().count(), 1 + 2 + 4 + 2, "groups with one child or none are kept");
    let node = |name: &str| cluster.node_by_name(name).unwrap();
    let leaf = node("host5").group().unwrap();
    let path: Vec<&str> =
        std::iter::successors(Some(leaf), |it| it.parent()).map(|it| it.name()).collect();
    assert_eq!(path, ["lower2", "upper1", ""]);
    assert_eq!(groups.common(node("host4"), node("host5")).name(), "lower2");
    assert_eq!(groups.common(node("host4"), node("host7")).name(), "upper1");
    assert_eq!(groups.common(node("host0"), node("host7")), groups.root());
    assert_eq!(groups.root().node_count(), 8);
    let upper = groups.by_name("upper0").unwrap();
    let below: Vec<&str> = upper.nodes().map(|node| node.name()).collect();
    assert_eq!((upper.depth(), below), (1, vec!["host0", "host1", "host2", "host3"]));
    assert_eq!(upper.children().count(), 2);
    // What hwloc 1.11 answered wrongly: PU 0 is of each node, and counts are the node's own.
    let opened = node("host3").open().unwrap();
    let archive = opened.archive();
    let topology = archive.topology();
    assert_eq!(topology.objects_with_type(ObjectType::PU).count(), 32);
    assert_eq!(topology.pu_by_os_index(0).unwrap().logical_index(), 0);
}

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
    let error = OwnNode::open(&file.as_path().into(), &here).unwrap_err();
    assert!(matches!(error, ClusterOpenError::OtherHost { .. }), "{error}");
    // Who says otherwise is believed.
    let told = Identity { is_of_kernel: false, ..here.clone() };
    assert!(
        cluster.node_of(&told).is_some() && OwnNode::open(&file.as_path().into(), &told).is_ok()
    );
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
    let own = |boot| OwnNode::open(&file.as_path().into(), &identity(boot));
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

#[test]
fn the_program_writes_a_cluster_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let node = |name: &str, machine: &str| {
        let description = synthetic(machine);
        let archive = to_bytes(&description).unwrap();
        fs::write(at(name), export(Archive::open(&archive).unwrap().topology())).unwrap();
    };
    node("a.xml", "Core:2 PU:2");
    node("b.xml", "Core:4 PU:2");
    fs::write(at("cut.xml"), "<topology version=\"2.0\"><object").unwrap();
    fs::write(at("binary.xml"), [0xff, 0xfe, 0]).unwrap();
    let cluster = |arguments: &[&str]| {
        let output =
            topobroker().arg("cluster").args(arguments).current_dir(folder.path()).output();
        let output = output.unwrap();
        let (out, error) = (output.stdout, output.stderr);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(out), text(error))
    };
    let cases: [(&[&str], &str); 9] = [
        (&["build", "out", "a.xml"], "a.xml: has no info HostName"),
        (&["build", "out", "n=cut.xml"], "cut.xml"),
        (&["build", "out", "n=binary.xml"], "neither a segment nor a text in UTF-8"),
        (&["build", "out", "n=absent.xml"], "absent.xml: cannot be read"),
        (&["build", "out", "n=a.xml", "n=b.xml"], "the node \"n\" is there twice, in "),
        (&["build", "a.xml", "n=b.xml"], "a.xml: exists"),
        (&["build", "--force", "a.xml", "n=a.xml"], "a.xml: is also an input"),
        (&["build", "out", "n=a.xml", "--group", "g=n[1-"], "a bracket has no counterpart"),
        (&["build", "out", "n=a.xml", "--group", "g=n[1-999999999]"], "more than 262144 names"),
    ];
    let before = fs::read(at("a.xml")).unwrap();
    for (arguments, expected) in cases {
        let (code, _, error) = cluster(arguments);
        assert!(code == Some(1) && error.contains(expected), "{arguments:?}: {error}");
        assert!(!at("out").exists(), "{arguments:?} leaves nothing");
    }
    assert_eq!(before, fs::read(at("a.xml")).unwrap(), "an input is not overwritten");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "no temporary files are left");
    let (code, _, _) = cluster(&["build", "out"]);
    assert_eq!(code, Some(2), "no inputs are an error of usage");
    let (code, _, error) =
        cluster(&["build", "out", "--names-from-files", "a.xml", "b.xml", "n1=a.xml"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let (_, listed, _) = cluster(&["ls", "out"]);
    assert!(listed.contains("3 nodes of 2 classes: 8 cores, 16 PUs"), "{listed}");
    let (_, xml, _) = cluster(&["export", "out", "b"]);
    assert_eq!(xml, fs::read_to_string(at("b.xml")).unwrap());
    let (code, _, error) = cluster(&["export", "out", "c"]);
    assert!(code == Some(1) && error.contains("no node \"c\" among its 3"), "{error}");
    let (_, info, _) = cluster(&["info", "out", "n1"]);
    assert!(
        info.contains("AssemblerName: n1\nAssemblerIndex: 2\nHostName: n1\nplace: remote"),
        "{info}"
    );
    cluster(&["export", "out", "--nodes", "all"]);
    assert_eq!(fs::read_dir(at("all")).unwrap().count(), 3);
    // A cluster is an input, too; and a list.
    fs::write(at("list"), "# nodes\nout\nc=b.xml\n").unwrap();
    let (code, _, error) = cluster(&["build", "more", "@list"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let (code, different, _) = cluster(&["diff", "out", "more"]);
    assert_eq!((code, different.as_str()), (Some(1), "+ c\n"));
    let (code, _, error) = cluster(&["build", "some", "a=a.xml", "b=cut.xml", "--skip-unreadable"]);
    assert!(code == Some(0) && error.contains("left out"), "{error}");
    use std::os::unix::fs::PermissionsExt;
    let mode = |name: &str| at(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("out"), 0o400, "serial numbers and addresses are not for everybody");
    cluster(&["build", "--public", "public", "a=a.xml"]);
    assert_eq!(mode("public"), 0o444);
}

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
        (&["ls", "c"][..], &["a class", "b class", "c class"][..]),
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

#[test]
fn hostlists_are_folded_and_expanded_back() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..300 {
        let mut names: Vec<String> = (0..random.usize(1..40))
            .map(|_| match random.u8(..5) {
                0 => format!("n{}", random.u32(..30)),
                1 => format!("n{:03}", random.u32(..1200)),
                2 => format!("r{}n{:02}-ib", random.u32(..3), random.u32(..20)),
                3 => format!("{}", random.u32(..200)),
                _ => ["login", "a-b", "x.y"][random.usize(..3)].to_owned(),
            })
            .collect();
        let folded = fold(names.iter().map(String::as_str));
        let mut again = topobroker::cluster::expand(&folded).unwrap();
        names.sort();
        names.dedup();
        again.sort();
        assert_eq!(names, again, "{folded}");
    }
}

/// What a file of the reference data says: only with it there.
pub(crate) fn reference(file: &str) -> Option<PathBuf> {
    Some(UNPACKED.as_ref()?.path().join(file))
}

#[test]
fn a_node_after_the_first_of_its_class_tells_itself_in_half_a_kilobyte() {
    for (name, _, _, _) in CLUSTERS {
        let Some(files) = files_of(name) else { return };
        let mut firsts: BTreeMap<u128, Known> = BTreeMap::new();
        let (mut longest, mut sum, mut count) = (0, 0, 0);
        for file in files {
            for node in prepare(&file).unwrap() {
                let report = NodeReport::new(node);
                let class = report.class();
                let Some(known) = firsts.get(&class) else {
                    firsts.insert(class, Known::read("a test", &report.whole()).unwrap());
                    continue;
                };
                let length = report.against(known).len();
                longest = longest.max(length);
                (sum, count) = (sum + length, count + 1);
            }
        }
        eprintln!("{name}: {count} reports of {} bytes, at most {longest}", sum / count.max(1));
        assert!(longest <= 500 && count > 0, "{name}: {longest} bytes, {count}");
    }
}

#[test]
fn a_prepared_node_has_the_hash_of_its_class_wherever_it_is_computed() {
    let hash = |machine: &str| {
        let archive = to_bytes(&synthetic(machine)).unwrap();
        PreparedNode::of_archive(archive, Some("n"), "a test").unwrap().class_hash()
    };
    assert_eq!(hash("Core:2 PU:2"), hash("Core:2 PU:2"));
    assert_ne!(hash("Core:2 PU:2"), hash("Core:4 PU:1"));
}
