//! Adoption of a cluster, once per process, next to the topology of the own node.

use super::Cluster;
use super::error::ClusterOpenError;
use crate::adopt::other_segment;
use topobroker_layout::header::MAX_CLUSTER_LEN;
use topobroker_process::{FilePath, Global, variable};

static ADOPTED: Global<(Cluster<'static>, FilePath)> = Global::new();

/// Environment variable with the file of the cluster.
const FILE: &str = "TOPOBROKER_CLUSTER";

/// Adopts the cluster in the file that the environment variable `TOPOBROKER_CLUSTER` names. The
/// first call maps it; every later one returns the same.
///
/// # Errors
///
/// [`ClusterOpenError`]. A failed adoption can be tried again.
pub fn adopt_cluster() -> Result<&'static Cluster<'static>, ClusterOpenError> {
    adopt_cluster_file(&named_file()?)
}

/// The file that the environment names.
pub(super) fn named_file() -> Result<FilePath, ClusterOpenError> {
    variable(FILE).map(FilePath::from_bytes).ok_or(ClusterOpenError::NoFile)
}

/// Adopts the cluster in a file.
///
/// # Errors
///
/// [`ClusterOpenError`]; [`ClusterOpenError::Different`] if this process has adopted another
/// cluster already.
pub fn adopt_cluster_file(
    file: impl Into<FilePath>,
) -> Result<&'static Cluster<'static>, ClusterOpenError> {
    let file = &file.into();
    if let Some((cluster, adopted)) = ADOPTED.get()
        && adopted == file
    {
        return Ok(cluster);
    }
    let (candidate, bytes) = other_segment(file, MAX_CLUSTER_LEN)?;
    let cluster = Cluster::open_certified(bytes, candidate.is_trusted())?;
    let id = cluster.header().segment_id;
    let (adopted, name) = ADOPTED.set((cluster, file.clone()));
    if adopted.header().segment_id == id {
        return Ok(adopted);
    }
    Err(ClusterOpenError::Different { file: file.clone(), adopted: name.clone() })
}

/// The cluster that this process has adopted, if it has.
#[must_use]
pub fn adopted_cluster() -> Option<&'static Cluster<'static>> {
    ADOPTED.get().map(|(cluster, _)| cluster)
}
