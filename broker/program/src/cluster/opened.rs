//! The cluster that a command works on.

use anyhow::{Context, ensure};
use std::path::Path;
use topobroker::file_bytes::FileBytes;
use topobroker_layout::header::MAX_SEGMENT_LEN;
use topobroker_reader::cluster::{Cluster, ClusterNode, ClusterOpenError};

/// The bytes of a cluster's file.
pub(super) struct Opened(FileBytes);

impl Opened {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let name = || file.display().to_string();
        // Opening a pipe would wait for somebody who writes.
        let is_file = std::fs::metadata(file).with_context(name)?.is_file();
        ensure!(is_file, "{}: is no file; expected that of a cluster", name());
        Ok(Self(FileBytes::open(file, MAX_SEGMENT_LEN).with_context(name)?))
    }

    pub(super) fn cluster(&self, file: &Path) -> anyhow::Result<Cluster<'_>> {
        Cluster::open(&self.0).with_context(|| file.display().to_string())
    }
}

/// The node with a name.
pub(super) fn named<'a>(
    cluster: &'a Cluster<'a>,
    name: &str,
) -> Result<ClusterNode<'a>, ClusterOpenError> {
    let count = cluster.node_count();
    let none = || ClusterOpenError::NoNode { name: name.to_owned(), count };
    cluster.node_by_name(name).ok_or_else(none)
}
