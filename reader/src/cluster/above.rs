//! What is above nodes: groups. They have no PUs of their own, and so no sets.

use super::Cluster;
use super::error::ClusterOpenError;
use super::node::ClusterNode;
use core::ops::Range;
use topobroker_layout::cluster::directory::ArchivedGroups;
use topobroker_layout::packed_texts::text_at;

topobroker_layout::words! {
    /// What a group of nodes is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum GroupKind {
        /// The cluster itself.
        Cluster => "cluster",
        /// A switch and what is connected below it.
        Switch => "switch",
        /// A block of Slurm's topology.
        Block => "block",
        /// A rack.
        Rack => "rack",
        /// Any other group.
        Group => "group",
        /// A ring of Slurm's topology: its nodes are in the order of the ring.
        Ring => "ring",
        /// A torus of Slurm's topology: its nodes are in the order of the torus.
        Torus => "torus",
    }
}

impl GroupKind {
    /// The number that stands for the kind in a file.
    #[must_use]
    pub fn raw(self) -> u8 {
        self as u8
    }
}

/// All groups of a cluster. It is a handle: copy it freely.
#[derive(Clone, Copy)]
pub struct NodeGroups<'a> {
    cluster: &'a Cluster<'a>,
    table: &'a ArchivedGroups,
}

/// A group of nodes. It is a handle: copy it freely. It has no cpuset: sets of several machines do
/// not mix.
#[derive(Clone, Copy)]
pub struct NodeGroup<'a> {
    groups: NodeGroups<'a>,
    number: u32,
}

impl core::fmt::Debug for NodeGroup<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "NodeGroup({} {:?})", self.kind().name(), self.name())
    }
}

impl core::fmt::Debug for NodeGroups<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "NodeGroups({})", self.table.parent.len())
    }
}

impl PartialEq for NodeGroup<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && core::ptr::eq(self.groups.table, other.groups.table)
    }
}

impl Eq for NodeGroup<'_> {}

impl Cluster<'_> {
    /// Groups of nodes: switches, blocks, racks.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError::Directory`].
    pub fn groups(&self) -> Result<NodeGroups<'_>, ClusterOpenError> {
        Ok(NodeGroups::new(self, &self.directory()?.groups))
    }
}

impl<'a> ClusterNode<'a> {
    /// The group that the node is directly in, such as its leaf switch.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError::Directory`].
    pub fn group(self) -> Result<NodeGroup<'a>, ClusterOpenError> {
        Ok(self.cluster().groups()?.group(self.group_number()))
    }
}

impl<'a> NodeGroups<'a> {
    pub(super) fn new(cluster: &'a Cluster<'a>, table: &'a ArchivedGroups) -> Self {
        Self { cluster, table }
    }

    /// The cluster itself, which all other groups are in.
    #[must_use]
    pub fn root(self) -> NodeGroup<'a> {
        self.group(0)
    }

    /// All groups, each before those in it.
    pub fn iter(self) -> impl ExactSizeIterator<Item = NodeGroup<'a>> {
        let count = u32::try_from(self.table.parent.len()).unwrap_or(u32::MAX);
        (0..count).map(move |number| self.group(number))
    }

    /// The first group with a name.
    #[must_use]
    pub fn by_name(self, name: &str) -> Option<NodeGroup<'a>> {
        self.iter().find(|group| group.name() == name)
    }

    /// The lowest group that two nodes are both in, such as the switch that connects them.
    #[must_use]
    #[inline]
    pub fn common(self, one: ClusterNode<'a>, other: ClusterNode<'a>) -> NodeGroup<'a> {
        let (mut above, other) = (one.group_number(), other.group_number());
        // The cluster has all groups, so that this ends.
        while above > 0 && !(above..self.table.end.get_u32(above as usize)).contains(&other) {
            above = self.table.parent.get_u32(above as usize);
        }
        self.group(above)
    }

    #[inline]
    pub(super) fn group(self, number: u32) -> NodeGroup<'a> {
        // A damaged row of a node may name a group that is not there.
        let number = if (number as usize) < self.table.parent.len() { number } else { 0 };
        NodeGroup { groups: self, number }
    }
}

impl<'a> NodeGroup<'a> {
    /// Number of the group in the cluster.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// What the group is.
    #[must_use]
    pub fn kind(self) -> GroupKind {
        let raw = usize::try_from(self.groups.table.kind.get(self.row())).unwrap_or(usize::MAX);
        GroupKind::ALL.get(raw).copied().unwrap_or(GroupKind::Group)
    }

    /// Name; empty for the cluster itself.
    #[must_use]
    pub fn name(self) -> &'a str {
        text_at(&self.groups.table.name_end, &self.groups.table.names, self.row())
    }

    /// Speed of the group's links in the unit that the site uses, `None` if unknown. Counterpart:
    /// `LinkSpeed` of Slurm.
    #[must_use]
    pub fn speed(self) -> Option<u32> {
        Some(self.groups.table.speed.get_u32(self.row())).filter(|speed| *speed > 0)
    }

    /// Sizes that a site gave: of the cluster, those of its blocks, such as `4,8` (`BlockSizes` of
    /// Slurm); of a torus its dimensions, such as `2x2x4`. `None` if there are none.
    #[must_use]
    pub fn sizes(self) -> Option<&'a str> {
        let table = self.groups.table;
        Some(text_at(&table.sizes_end, &table.sizes, self.row())).filter(|text| !text.is_empty())
    }

    /// The group that this one is in, `None` for the cluster.
    #[must_use]
    pub fn parent(self) -> Option<Self> {
        let parent = self.groups.table.parent.get_u32(self.row());
        (self.number > 0).then(|| self.groups.group(parent))
    }

    /// Number of groups above this one: 0 for the cluster.
    #[must_use]
    pub fn depth(self) -> usize {
        core::iter::successors(self.parent(), |group| group.parent()).count()
    }

    /// Groups directly in this one.
    pub fn children(self) -> impl Iterator<Item = Self> {
        let groups = self.groups;
        let end = groups.table.end.get_u32(self.row());
        let inside = (self.number + 1..end).map(move |number| groups.group(number));
        inside.filter(move |group| group.parent() == Some(self))
    }

    /// Number of nodes in this group and in all groups below.
    #[must_use]
    #[inline]
    pub fn node_count(self) -> u32 {
        let members = self.members();
        members.end - members.start
    }

    /// Nodes in this group and in all groups below, group by group: by ascending number, but of
    /// rings and toruses in their order.
    pub fn nodes(self) -> impl ExactSizeIterator<Item = ClusterNode<'a>> {
        let (cluster, table) = (self.groups.cluster, self.groups.table);
        let members = self.members();
        members.map(move |at| ClusterNode::new(cluster, table.members.get_u32(at as usize)))
    }

    /// Nodes that are directly in this group.
    pub fn own_nodes(self) -> impl Iterator<Item = ClusterNode<'a>> {
        self.nodes().filter(move |node| node.group_number() == self.number)
    }

    fn members(self) -> Range<u32> {
        let table = self.groups.table;
        table.member_first.get_u32(self.row())..table.member_end.get_u32(self.row())
    }

    fn row(self) -> usize {
        self.number as usize
    }
}
