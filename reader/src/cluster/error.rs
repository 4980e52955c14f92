//! Why a cluster, or a part of one, cannot be used.

use crate::adopt::AdoptError;
use alloc::string::String;
use topobroker_layout::{OpenError, ValidationError};
use topobroker_process::FilePath;

/// Why a cluster, or a part of one, cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ClusterOpenError {
    /// The file cannot be adopted.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
    /// The first page cannot be used, so that nothing can.
    #[error("the first page of the cluster cannot be used")]
    Head(#[from] OpenError),
    /// A part without which no node is found is damaged.
    #[error("{part} of the cluster: wrong checksum; build it again")]
    Damaged { part: &'static str },
    /// Groups and links are damaged. Nodes can be used.
    #[error("groups and links of the cluster cannot be used; nodes can")]
    Directory(#[source] OpenError),
    /// A row of the table of nodes is wrong, so that the table is not used.
    #[error("the table of nodes of the cluster cannot be used; build it again")]
    Nodes(#[source] ValidationError),
    /// The values of a node are damaged. Other nodes can be used.
    #[error("the values of node {node:?} {what}; other nodes can be used")]
    Values { node: String, what: &'static str },
    /// The class of a node is damaged. Nodes of other classes can be used.
    #[error("class {class} of the cluster cannot be used; nodes of other classes can")]
    Class {
        class: u16,
        #[source]
        source: OpenError,
    },
    /// The cluster has no such node.
    #[error("the cluster has no node {name:?} among its {count}")]
    NoNode { name: String, count: u32 },
    /// The node was published in another boot than the one that runs.
    #[error("node {name:?} was published in another boot; gather or build the cluster again")]
    OtherBoot { name: String },
    /// hwloc found another host name on the node than that of this one.
    #[error("node {name:?} of the cluster is host {found:?}, and this is not; name it otherwise")]
    OtherHost { name: String, found: String },
    /// No file is named.
    #[error("no cluster is named; set TOPOBROKER_CLUSTER to its file")]
    NoFile,
    /// This process has adopted another cluster.
    #[error("{file}: is another cluster than {adopted}, which this process has adopted")]
    Different { file: FilePath, adopted: FilePath },
}

/// The rule of a part that is checked as a whole.
pub(super) const CHECKSUM: &str = "has the checksum of its bytes";

impl ClusterOpenError {
    pub(super) fn checksum(part: &'static str) -> Self {
        Self::Damaged { part }
    }

    pub(super) fn class_checksum(class: u16) -> Self {
        let rule = ValidationError { column: "cluster.classes", row: class.into(), rule: CHECKSUM };
        Self::Class { class, source: rule.into() }
    }
}
