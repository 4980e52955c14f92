//! Clusters that tests run on: those of the reference data, unpacked, and made ones.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use topobroker_cluster::Owners;
use topobroker_cluster::fabric::read_fabric;
use topobroker_cluster::{
    ClusterBuilder, GroupId, Like, NodeFile, SwitchTree, files_in, prepare_all,
};
use topobroker_layout::encode::AlignedVec;
use topobroker_samples::{shared, synthetic, temporary};

/// The clusters of the reference data, unpacked below the target folder once for all tests.
pub static UNPACKED: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let archives = shared()?.join("clusters");
    let folder = temporary().join("clusters");
    let lock = File::create(folder.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let names: BTreeSet<&str> = CLUSTERS.iter().map(|it| it.0.split('/').next().unwrap()).collect();
    let about = |archive: fs::DirEntry| {
        let metadata = archive.metadata().unwrap();
        let at = metadata.modified().unwrap();
        format!("{:?} {} {at:?}\n", archive.file_name(), metadata.len())
    };
    let stamp: BTreeSet<String> = fs::read_dir(&archives).unwrap().flatten().map(about).collect();
    let stamp: String = stamp.into_iter().collect();
    let written = folder.join("stamp");
    if fs::read_to_string(&written).is_ok_and(|it| it == stamp) {
        return Some(folder);
    }
    let _ = fs::remove_dir_all(&folder);
    for name in &names {
        unpack(&archives.join(if *name == "avakas" { "avakas-full" } else { name }), &folder);
    }
    let raw = folder.join("raw");
    unpack(&archives.join("avakas"), &raw);
    for (from, to) in [("avakas", "avakas-full"), ("plafrim", "plafrim")] {
        std::os::unix::fs::symlink(folder.join(from), raw.join(to)).unwrap();
    }
    fs::write(written, stamp).unwrap();
    Some(folder)
});

fn unpack(archive: &Path, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let archive = format!("{}.tar.xz", archive.display());
    let status = Command::new("tar").arg("xJf").arg(&archive).arg("-C").arg(folder).status();
    assert!(status.unwrap().success(), "{archive} is unpacked");
}

/// Folders of nodes: number of nodes, most classes, and most bytes of a node in addition to them.
pub const CLUSTERS: [(&str, usize, u32, f64); 6] = [
    ("avakas", 276, 13, 80.0),
    ("plafrim/hwloc", 122, 18, 120.0),
    ("aws_eks_cpu_size64", 64, 1, 150.0),
    ("aws_eks_gpu_size8", 8, 1, 150.0),
    ("google_compute-engine_gpu_size8", 8, 1, 150.0),
    ("google_gke_cpu_size32", 32, 1, 150.0),
];

/// The files of a cluster, with their names as names of nodes.
pub fn files_of(cluster: &str) -> Option<Vec<NodeFile>> {
    let folder = UNPACKED.as_ref()?.join(cluster);
    let files = topobroker_cluster::files_in(&folder).unwrap();
    let xml = files.into_iter().filter(|it| it.extension().is_some_and(|it| it == "xml"));
    Some(
        xml.map(|file| NodeFile { name: Some(stem(&file)), file, owners: Owners::Trusted })
            .collect(),
    )
}

/// Name of a file without its ending.
pub fn stem(file: &Path) -> String {
    file.file_stem().unwrap().to_string_lossy().into_owned()
}

/// A cluster of these nodes, prepared by as many threads.
pub fn build(files: &[NodeFile], threads: usize) -> AlignedVec {
    let mut cluster = ClusterBuilder::new();
    let added = prepare_all(files, threads, |_, nodes| {
        nodes?.into_iter().try_for_each(|node| cluster.add(GroupId::CLUSTER, node))
    });
    added.unwrap();
    cluster.finish().unwrap()
}

/// A cluster of synthetic nodes with these names.
pub fn of_names(names: &[&str]) -> AlignedVec {
    let mut cluster = ClusterBuilder::new();
    for name in names {
        cluster.add_node(GroupId::CLUSTER, Some(name), &synthetic("Core:2 PU:2")).unwrap();
    }
    cluster.finish().unwrap()
}

/// What a file of the reference data says: only with it there.
pub fn reference(file: &str) -> Option<PathBuf> {
    Some(UNPACKED.as_ref()?.join(file))
}

/// A cluster of the reference data with its fabric.
pub fn with_fabric(nodes: &str, fabric: &Path) -> (AlignedVec, Vec<usize>, usize) {
    let files = files_in(&reference(nodes).unwrap()).unwrap();
    let files: Vec<NodeFile> = files
        .into_iter()
        .filter(|file| file.extension().is_some_and(|it| it == "xml"))
        .map(|file| NodeFile {
            owners: Owners::Trusted,
            name: Some(file.file_stem().unwrap().to_string_lossy().into_owned()),
            file,
        })
        .collect();
    let mut cluster = ClusterBuilder::new();
    let added = prepare_all(&files, 2, |_, nodes| {
        nodes?.into_iter().try_for_each(|node| cluster.add(GroupId::CLUSTER, node))
    });
    added.unwrap();
    let matching = cluster.set_fabric(read_fabric(&[fabric]).unwrap());
    cluster.group_by_fabric().unwrap();
    (cluster.finish().unwrap(), matching.nodes_without, matching.ports_without.len())
}

/// Folder with the outputs of `ibnetdiscover -p` of both clusters, as the reference program wants
/// it.
pub fn raw() -> Option<PathBuf> {
    Some(UNPACKED.as_ref()?.join("raw"))
}

/// Where a cluster has the output of `ibnetdiscover -p`.
pub const SUBNET: &str = "ib-raw/ib-subnet-fe80:0000:0000:0000.txt";

/// A cluster of the reference data whose nodes are in groups of the switches that they are at.
pub fn grouped_by_fabric(nodes: &str) -> Option<AlignedVec> {
    let name = nodes.split('/').next().unwrap();
    Some(with_fabric(nodes, &raw()?.join(name).join(SUBNET)).0)
}

/// 12 nodes below 6 leaves of 2 pods, with a fabric.
pub fn regular() -> AlignedVec {
    let mut builder = ClusterBuilder::new();
    let like = Like::new(synthetic("Package:2 Core:3 PU:1"));
    for number in 0..12 {
        let name = Like::name(number);
        builder.add_node(GroupId::CLUSTER, Some(&name), &like.node(number)).unwrap();
    }
    let tree = SwitchTree { nodes_a_leaf: 2, leaves_a_pod: 3, spines_a_pod: 2 };
    tree.add_to(&mut builder, 12).unwrap();
    builder.finish().unwrap()
}
