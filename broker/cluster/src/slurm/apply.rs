//! Puts the nodes of a cluster into the groups of Slurm.

use super::groups::SlurmTopology;
use crate::builder::{ClusterBuilder, GroupId};
use crate::error::ClusterError;
use std::collections::{HashMap, HashSet};
use topobroker_reader::cluster::GroupKind;

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
        let gone = self.without_nodes(topology);
        for group in topology.groups() {
            if gone.contains(&*group.name) {
                applied.unknown.extend(group.nodes.iter().cloned());
                continue;
            }
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

    /// The groups of which the cluster has no node, though they have some. Blocks stay, because
    /// Slurm joins those that follow each other.
    fn without_nodes<'s>(&self, topology: &'s SlurmTopology) -> HashSet<&'s str> {
        let own: HashSet<&str> = self.names().collect();
        let mut gone = HashSet::new();
        // Those in a group come after it.
        let groups = topology.groups.iter().rev().filter(|group| group.name_count() > 0);
        for group in groups.filter(|group| group.kind != GroupKind::Block) {
            let is_here = group.nodes.iter().any(|node| own.contains(&**node))
                || group.children.iter().any(|child| !gone.contains(&**child));
            if !is_here {
                gone.insert(&*group.name);
            }
        }
        gone
    }
}
