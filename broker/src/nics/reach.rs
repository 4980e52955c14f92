//! Which nodes of a cluster a network reaches.

use std::collections::BTreeMap;
use topobroker_reader::cluster::{Cluster, ClusterOpenError};
use topobroker_reader::devices::{NetworkId, NicChoice};

/// The number of nodes of a cluster that have a NIC in each network. A node that is not in a
/// network cannot be reached by it.
///
/// # Errors
///
/// [`ClusterOpenError`] of the first node that cannot be opened.
pub fn nodes_reached(
    cluster: &Cluster<'_>,
    choice: NicChoice,
) -> Result<BTreeMap<NetworkId, u32>, ClusterOpenError> {
    let mut reached = BTreeMap::new();
    for node in cluster.nodes() {
        let opened = node.open()?;
        for network in opened.archive().topology().networks(choice) {
            *reached.entry(network.id).or_insert(0) += 1;
        }
    }
    Ok(reached)
}
