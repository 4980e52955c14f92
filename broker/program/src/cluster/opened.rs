//! The cluster that a command works on.

use crate::kind_of_file::{self, Held};
use crate::text_file::read_text;
use anyhow::{Context, anyhow, ensure};
use std::path::Path;
use topobroker::file_bytes::{FileBytes, Owners};
use topobroker_cluster::{ClusterBuilder, GroupId, NodeFile, prepare};
use topobroker_layout::encode::AlignedVec;
use topobroker_layout::header::{Header, Kind, MAX_CLUSTER_LEN};
use topobroker_reader::cluster::{Cluster, ClusterNode, ClusterOpenError, NodeGroup};
use topobroker_reader::text::xml;

/// The bytes of a cluster's file.
pub(super) struct Opened(Bytes);

enum Bytes {
    File(FileBytes),
    /// Of a cluster of one node, made of the file of a node.
    Node(AlignedVec),
}

impl Opened {
    /// A cluster, or a cluster of one node out of the file of a node.
    pub(super) fn of_any(file: &Path) -> anyhow::Result<Self> {
        let opened = Self::read(file)?;
        let Bytes::File(bytes) = &opened.0 else { return Ok(opened) };
        if Header::read(bytes).is_ok_and(|header| header.kind == Kind::Cluster) {
            return Ok(opened);
        }
        let name = Some(file.display().to_string());
        let mut cluster = ClusterBuilder::new();
        for node in prepare(&NodeFile { file: file.to_owned(), name, owners: Owners::Named })? {
            cluster.add(GroupId::CLUSTER, node)?;
        }
        Ok(Self(Bytes::Node(cluster.finish()?)))
    }

    /// Whether it was the file of a node.
    pub(super) fn is_node(&self) -> bool {
        matches!(self.0, Bytes::Node(_))
    }

    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let name = || file.display().to_string();
        // Opening a pipe would wait for somebody who writes.
        let is_file = std::fs::metadata(file).with_context(name)?.is_file();
        ensure!(is_file, "{}: is no file; expected that of a cluster", name());
        Ok(Self(Bytes::File(FileBytes::open(file, MAX_CLUSTER_LEN).with_context(name)?)))
    }

    pub(super) fn cluster(&self, file: &Path) -> anyhow::Result<Cluster<'_>> {
        let bytes: &[u8] = match &self.0 {
            Bytes::File(bytes) => bytes,
            Bytes::Node(bytes) => bytes,
        };
        Cluster::open(bytes).map_err(|error| {
            let name = file.display();
            match kind_of_file::of(file) {
                Held::Xml => anyhow!(
                    "{name}: is XML: `topobroker cluster build OUTPUT {name}` makes a cluster of it"
                ),
                Held::Segment(Kind::Topology) => anyhow!(
                    "{name}: is the topology of one node: `topobroker cluster build OUTPUT \
                     {name}` makes a cluster of it"
                ),
                _ => anyhow::Error::from(error).context(name.to_string()),
            }
        })
    }
}

/// The XML of the file of a node: hwloc's XML as it is, or that of a segment.
pub(crate) fn node_xml(file: &Path) -> anyhow::Result<String> {
    if let Held::Xml = kind_of_file::of(file) {
        return read_text(file, MAX_CLUSTER_LEN, |text| anyhow::Ok(text.to_owned()));
    }
    let opened = Opened::of_any(file)?;
    let name = file.display();
    ensure!(
        opened.is_node(),
        "{name}: is a cluster: `topobroker cluster export {name} NODE` writes a node of it as XML"
    );
    let cluster = opened.cluster(file)?;
    let node = cluster.nodes().next().with_context(|| format!("{name}: has no node"))?;
    Ok(xml::export(node.open()?.archive().topology()))
}

/// The node with a name. If there is none, the error names one whose name is nearly the same.
pub(super) fn named<'a>(cluster: &'a Cluster<'a>, name: &str) -> anyhow::Result<ClusterNode<'a>> {
    if let Some(node) = cluster.node_by_name(name) {
        return Ok(node);
    }
    let count = cluster.node_count();
    let none = anyhow::Error::from(ClusterOpenError::NoNode { name: name.to_owned(), count });
    Err(match like(cluster, name) {
        Some(other) => anyhow::anyhow!("{none:#}; did you mean {other}?"),
        None => none,
    })
}

/// The node with the same name but for zeros before its number, a domain, or a letter or two.
fn like<'a>(cluster: &'a Cluster<'a>, name: &str) -> Option<&'a str> {
    let plain = |name: &str| {
        let host = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
        let end = host.trim_end_matches(|it: char| it.is_ascii_digit()).len();
        let (start, digits) = host.split_at(end);
        start.to_owned() + digits.trim_start_matches('0')
    };
    let wanted = plain(name);
    let distance = |node: &ClusterNode<'a>| match plain(node.name()) == wanted {
        true => 0,
        false => strsim::levenshtein(node.name(), name),
    };
    let nearest = cluster.nodes().min_by_key(distance)?;
    (distance(&nearest) <= 2).then(|| nearest.name())
}

/// Names of a group and of those that it is in, the outermost first.
pub(super) fn path(group: NodeGroup<'_>) -> Vec<String> {
    let all = std::iter::successors(Some(group), |group| group.parent());
    let mut path: Vec<String> =
        all.filter(|group| group.parent().is_some()).map(|group| group.name().to_owned()).collect();
    path.reverse();
    path
}
