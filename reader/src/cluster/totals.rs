//! What nodes have together.

use super::Cluster;
use super::error::ClusterOpenError;
use super::node::ClusterNode;

/// What the nodes of a cluster have in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of cores.
    pub cores: u64,
    /// Number of PUs.
    pub pus: u64,
    /// Number of GPUs.
    pub gpus: u64,
    /// Memory of the NUMA nodes, in bytes.
    pub memory: u64,
}

impl Cluster<'_> {
    /// What all nodes have together. Opens each node, because their memory differs.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError`] if a class is damaged.
    pub fn totals(&self) -> Result<Totals, ClusterOpenError> {
        self.totals_of(0..self.node_count())
    }

    /// What these nodes have together.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError`] if a class is damaged.
    pub fn totals_of(
        &self,
        nodes: impl IntoIterator<Item = u32>,
    ) -> Result<Totals, ClusterOpenError> {
        let mut totals = Totals::default();
        for node in nodes.into_iter().filter_map(|number| self.node(number)) {
            let class = node.class_row()?;
            totals.nodes += 1;
            totals.cores += u64::from(class.cores);
            totals.pus += u64::from(class.pus);
            totals.gpus += u64::from(class.gpus);
            totals.memory = totals.memory.saturating_add(node.memory()?);
        }
        Ok(totals)
    }
}

impl ClusterNode<'_> {
    /// Memory of the node in bytes.
    fn memory(self) -> Result<u64, ClusterOpenError> {
        Ok(self.open()?.archive().topology().root().total_memory())
    }
}
