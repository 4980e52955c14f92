//! Puts the nodes of a cluster into the groups of Slurm.

use super::groups::SlurmTopology;
use crate::builder::{ClusterBuilder, GroupId};
use crate::error::ClusterError;
use std::collections::{HashMap, HashSet};

/// What did not fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Nodes of the cluster that Slurm's topology does not have.
    pub nodes_without: Vec<String>,
    /// Nodes of Slurm's topology that the cluster does not have.
    pub unknown: Vec<String>,
}

impl ClusterBuilder {
    /// Adds the groups of a topology of Slurm, and puts nodes into them.
    ///
    /// # Errors
    ///
    /// [`ClusterError::TooDeep`].
    pub fn apply(&mut self, topology: &SlurmTopology) -> Result<Applied, ClusterError> {
        let mut parents: HashMap<&str, GroupId> = HashMap::new();
        let mut applied = Applied::default();
        let mut placed: HashSet<&str> = HashSet::new();
        let sizes: Vec<String> = topology.block_sizes().iter().map(u32::to_string).collect();
        self.set_sizes(GroupId::CLUSTER, sizes.join(","));
        for group in topology.groups() {
            let parent = parents.get(group.name.as_str()).copied().unwrap_or(GroupId::CLUSTER);
            let id = self.add_link_group(parent, group.kind, &group.name, group.speed)?;
            self.set_sizes(id, group.sizes.clone());
            parents.extend(group.children.iter().map(|child| (child.as_str(), id)));
            for node in &group.nodes {
                if self.move_node(node, id)? {
                    placed.insert(node);
                } else {
                    applied.unknown.push(node.clone());
                }
            }
        }
        let without = self.names().filter(|name| !placed.contains(name));
        applied.nodes_without = without.map(str::to_owned).collect();
        Ok(applied)
    }
}
