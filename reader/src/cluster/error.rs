//! Why a cluster, or a part of one, cannot be used.

use crate::adopt::{AdoptError, FilePath};
use alloc::string::String;
use topobroker_layout::OpenError;

/// Why a cluster, or a part of one, cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterOpenError {
    /// The file cannot be adopted.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
    /// The first page cannot be used, so that nothing can.
    #[error("the first page of the cluster cannot be used")]
    Head(#[from] OpenError),
    /// A part is damaged. The others can be used.
    #[error("the cluster's {part} {what}; the other parts can be used, or build it again")]
    Damaged {
        /// The part.
        part: &'static str,
        /// What is wrong.
        what: &'static str,
    },
    /// The class of a node is damaged. Nodes of other classes can be used.
    #[error("class {class} of the cluster cannot be used; nodes of other classes can")]
    Class {
        /// Number of the class.
        class: u16,
        /// What is wrong.
        #[source]
        source: OpenError,
    },
    /// The cluster has no such node.
    #[error("the cluster has no node {name:?} among its {count}")]
    NoNode {
        /// The name.
        name: String,
        /// Number of nodes.
        count: u32,
    },
    /// No file is named.
    #[error("no cluster is named; set TOPOBROKER_CLUSTER to its file")]
    NoFile,
    /// This process has adopted another cluster.
    #[error("{file}: is another cluster than {adopted}, which this process has adopted")]
    Different {
        /// The file.
        file: FilePath,
        /// The adopted one.
        adopted: FilePath,
    },
}

impl ClusterOpenError {
    pub(super) fn checksum(part: &'static str) -> Self {
        Self::Damaged { part, what: "has a wrong checksum" }
    }
}
