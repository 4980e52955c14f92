//! Builds a cluster out of nodes and groups.

use super::classes::Classes;
use super::error::ClusterError;
use super::fabric::{FabricGraph, Matching};
use super::file::{self, Group, Placed};
use super::natural::natural;
use super::prepared_node::PreparedNode;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use topobroker_layout::cluster::directory::MAX_GROUP_DEPTH;
use topobroker_layout::description::Description;
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::cluster::GroupKind;

/// Highest number of classes.
pub const MAX_CLASSES: usize = 65_535;

/// A group of a cluster that is being built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupId(pub(super) u32);

impl GroupId {
    /// The cluster itself, which all other groups are in.
    pub const CLUSTER: Self = Self(0);
}

/// A cluster that is being built. Nodes that are alike are stored once, while they are added.
///
/// ```
/// use topobroker_cluster::{ClusterBuilder, GroupId};
/// use topobroker::hwloc::{Input, LoadOptions, capture, load};
/// use topobroker_reader::cluster::GroupKind;
/// let mut cluster = ClusterBuilder::new();
/// let leaf = cluster.add_group(GroupId::CLUSTER, GroupKind::Switch, "leaf1")?;
/// for name in ["node1", "node2"] {
///     let machine = load(&Input::Synthetic("Core:4 PU:2".into()), &LoadOptions::default())?;
///     cluster.add_node(leaf, Some(name), &capture(&machine)?)?;
/// }
/// let file = cluster.finish()?;
/// let cluster = topobroker_reader::cluster::Cluster::open(&file)?;
/// assert_eq!((cluster.node_count(), cluster.class_count()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct ClusterBuilder {
    classes: Classes,
    nodes: Vec<Placed>,
    by_name: HashMap<String, usize>,
    groups: Vec<Group>,
    missing: Vec<String>,
    fabric: FabricGraph,
    keeps_order: bool,
    /// How often a node was moved to a group.
    moved: u32,
}

impl ClusterBuilder {
    /// A cluster without nodes.
    #[must_use]
    pub fn new() -> Self {
        let (name, sizes) = (String::new(), String::new());
        let cluster = Group { parent: 0, kind: GroupKind::Cluster, name, speed: 0, sizes };
        Self { groups: vec![cluster], ..Self::default() }
    }

    /// Numbers nodes in the order in which they are added, not by their names.
    #[must_use]
    pub fn keep_order(mut self) -> Self {
        self.keeps_order = true;
        self
    }

    /// Adds a group to another one. Groups that have no nodes, or only one group, are kept.
    /// Counterpart: `hwloc_custom_insert_group_object_by_parent` of hwloc 1.
    ///
    /// # Errors
    ///
    /// [`ClusterError::NoGroup`], [`ClusterError::TooDeep`].
    pub fn add_group(
        &mut self,
        parent: GroupId,
        kind: GroupKind,
        name: &str,
    ) -> Result<GroupId, ClusterError> {
        self.add_link_group(parent, kind, name, 0)
    }

    /// [`ClusterBuilder::add_group`], with the speed of its links, in the unit that the site uses;
    /// 0 is unknown.
    ///
    /// # Errors
    ///
    /// Those of [`ClusterBuilder::add_group`].
    pub fn add_link_group(
        &mut self,
        parent: GroupId,
        kind: GroupKind,
        name: &str,
        speed: u32,
    ) -> Result<GroupId, ClusterError> {
        self.check(parent)?;
        if name.chars().any(char::is_control) {
            return Err(ClusterError::Name { input: "a group".to_owned(), name: name.to_owned() });
        }
        let mut depth = 1;
        let mut above = parent.0;
        while above != 0 {
            depth += 1;
            above = self.groups.get(above as usize).map_or(0, |group| group.parent);
        }
        if depth > MAX_GROUP_DEPTH {
            return Err(ClusterError::TooDeep { limit: MAX_GROUP_DEPTH });
        }
        let id = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        let (name, sizes) = (name.to_owned(), String::new());
        self.groups.push(Group { parent: parent.0, kind, name, speed, sizes });
        Ok(GroupId(id))
    }

    /// Sets the sizes that a site gave: of the cluster those of its blocks, of a torus its
    /// dimensions.
    pub(super) fn set_sizes(&mut self, group: GroupId, sizes: String) {
        let found = self.groups.get_mut(group.0 as usize);
        found.into_iter().for_each(|group| group.sizes.clone_from(&sizes));
    }

    /// Adds a node to a group. Without a name, its root's info `HostName` is the name. Counterpart:
    /// `hwloc_custom_insert_topology` of hwloc 1.
    ///
    /// # Errors
    ///
    /// [`ClusterError`], with the cluster as it was.
    pub fn add_node(
        &mut self,
        group: GroupId,
        name: Option<&str>,
        node: &Description,
    ) -> Result<(), ClusterError> {
        let prepared = PreparedNode::of_archive(to_bytes(node)?, name, "the description")?;
        self.add(group, prepared)
    }

    /// Adds a node that is prepared.
    ///
    /// # Errors
    ///
    /// [`ClusterError`], with the cluster as it was; but after [`ClusterError::TooMany`] it cannot
    /// be finished.
    pub fn add(&mut self, group: GroupId, node: PreparedNode) -> Result<(), ClusterError> {
        self.check(group)?;
        let PreparedNode { name, input, boot, mut prepared } = node;
        if let Some(other) = self.by_name.get(&name).and_then(|at| self.nodes.get(*at)) {
            return Err(ClusterError::Twice { name, one: other.input.clone(), other: input });
        }
        let number = self.nodes.len();
        self.by_name.insert(name.clone(), number);
        let (ports, nvlink_domain) = (prepared.take_ports(), prepared.take_nvlink_domain());
        let group = group.0;
        self.nodes.push(Placed { name, input, boot, group, place: 0, ports, nvlink_domain });
        let nodes = &self.nodes;
        self.classes.add(number, prepared, |at| nodes.get(at).map_or("", |node| &node.name));
        self.check_classes()
    }

    fn check_classes(&self) -> Result<(), ClusterError> {
        match self.classes.len() {
            found if found > MAX_CLASSES => {
                Err(ClusterError::TooMany { what: "classes of nodes", found, limit: MAX_CLASSES })
            }
            _ => Ok(()),
        }
    }

    /// Moves a node to another group; whether there is a node with this name. Nodes of rings and
    /// toruses are in the order in which they were moved there.
    ///
    /// # Errors
    ///
    /// [`ClusterError::NoGroup`].
    pub fn move_node(&mut self, name: &str, group: GroupId) -> Result<bool, ClusterError> {
        self.check(group)?;
        self.moved += 1;
        let node = self.by_name.get(name).and_then(|at| self.nodes.get_mut(*at));
        Ok(node.map(|node| (node.group, node.place) = (group.0, self.moved)).is_some())
    }

    /// Names of the nodes, in the order in which they were added.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.nodes.iter().map(|node| node.name.as_str())
    }

    /// Says that a node should be there, and is not.
    pub fn add_missing(&mut self, name: &str) {
        self.missing.push(name.to_owned());
    }

    /// Sets the switches and links of the cluster, and says which ports belong to which nodes.
    pub fn set_fabric(&mut self, fabric: FabricGraph) -> Matching {
        self.fabric = fabric;
        self.matching()
    }

    /// Adds a group for the nodes at each leaf switch and puts them into it, and groups for the
    /// switches that join leaves. On rails, where each node is at several leaves, the nodes of a
    /// unit are one group.
    ///
    /// # Errors
    ///
    /// [`ClusterError::TooDeep`].
    pub fn group_by_fabric(&mut self) -> Result<(), ClusterError> {
        let mut groups: Vec<GroupId> = Vec::new();
        for unit in self.fabric.units(&self.matching().nodes) {
            let above = unit.above.and_then(|place| groups.get(place)).copied();
            let above = above.unwrap_or(GroupId::CLUSTER);
            let group = self.add_group(above, GroupKind::Switch, &unit.name)?;
            groups.push(group);
            for node in unit.nodes {
                self.nodes.get_mut(node).into_iter().for_each(|node| node.group = group.0);
            }
        }
        Ok(())
    }

    /// Adds a block for each NVLink domain over nodes, and puts the nodes into it all of whose GPUs
    /// are in it. Returns the names of the other nodes.
    ///
    /// # Errors
    ///
    /// None today: groups directly in the cluster are not too deep.
    pub fn group_by_nvlink(&mut self) -> Result<Vec<String>, ClusterError> {
        let domains: BTreeSet<String> =
            self.nodes.iter().filter_map(|node| node.nvlink_domain.clone()).collect();
        let mut blocks: BTreeMap<String, u32> = BTreeMap::new();
        for domain in domains {
            let block = self.add_group(GroupId::CLUSTER, GroupKind::Block, &domain)?;
            blocks.insert(domain, block.0);
        }
        for node in &mut self.nodes {
            let block = node.nvlink_domain.as_ref().and_then(|domain| blocks.get(domain));
            node.group = block.copied().unwrap_or(node.group);
        }
        let others = self.nodes.iter().filter(|node| node.nvlink_domain.is_none());
        Ok(others.map(|node| node.name.clone()).collect())
    }

    fn matching(&self) -> Matching {
        self.fabric.matching(self.nodes.iter().map(|node| (node.name.as_str(), &node.ports)))
    }

    /// The bytes of the cluster's file. The same nodes and groups give the same bytes in whatever
    /// order they were added, but for id, time and checksum of the header.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Empty`] if there are no nodes, [`ClusterError::Encode`].
    pub fn finish(self) -> Result<AlignedVec, ClusterError> {
        if self.nodes.is_empty() {
            return Err(ClusterError::Empty);
        }
        self.check_classes()?;
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        if !self.keeps_order {
            let name = |at: usize| self.nodes.get(at).map_or("", |node| &node.name);
            order.sort_by(|one, other| natural(name(*one), name(*other)));
        }
        let mut missing = self.missing;
        missing.sort_by(|one, other| natural(one, other));
        missing.dedup();
        // A report may have named a node that there cannot be.
        missing.retain(|name| !name.chars().any(char::is_control));
        file::write(&order, &self.nodes, self.classes, &self.groups, &missing, &self.fabric)
    }

    fn check(&self, group: GroupId) -> Result<(), ClusterError> {
        let count = self.groups.len();
        if (group.0 as usize) < count {
            return Ok(());
        }
        Err(ClusterError::NoGroup { found: group.0, count })
    }
}
