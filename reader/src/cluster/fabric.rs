//! The fabric of a cluster: switches, ports of nodes, and the links between them.

use super::Cluster;
use super::error::ClusterOpenError;
use super::node::ClusterNode;
use core::ops::Range;
use topobroker_layout::cluster::directory::ArchivedFabric;
use topobroker_layout::packed_texts::text_at;

/// The fabric of a cluster: a graph, which may have loops, several links between two switches, and
/// parts that are not connected. It is a handle: copy it freely.
#[derive(Clone, Copy)]
pub struct Fabric<'a> {
    cluster: &'a Cluster<'a>,
    table: &'a ArchivedFabric,
}

/// A switch, or a port of a node. It is a handle: copy it freely.
#[derive(Clone, Copy)]
pub struct FabricVertex<'a> {
    fabric: Fabric<'a>,
    number: u32,
}

/// One end of a link.
#[derive(Debug, Clone, Copy)]
pub struct FabricLink<'a> {
    /// The vertex at the other end.
    pub peer: FabricVertex<'a>,
    /// Number of the port at this end.
    pub port: u16,
    /// Number of the port at the other end.
    pub peer_port: u16,
    /// What the link carries in one direction, in Mb/s of data; `None` if unknown.
    pub mbps: Option<u32>,
}

/// Stands for no way among numbers of links, because it is larger than any.
const NO_WAY: u32 = u32::MAX;

/// The number of links, `None` for [`NO_WAY`].
fn known(hops: u32) -> Option<u32> {
    (hops != NO_WAY).then_some(hops)
}

impl core::fmt::Debug for Fabric<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Fabric({} vertices, {} links)", self.table.guid.len(), self.link_count())
    }
}

impl core::fmt::Debug for FabricVertex<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "FabricVertex({:#018x} {:?})", self.guid(), self.name())
    }
}

impl PartialEq for FabricVertex<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && core::ptr::eq(self.fabric.table, other.fabric.table)
    }
}

impl Eq for FabricVertex<'_> {}

impl Cluster<'_> {
    /// Switches, ports and links.
    ///
    /// # Errors
    ///
    /// [`ClusterOpenError::Directory`].
    pub fn fabric(&self) -> Result<Fabric<'_>, ClusterOpenError> {
        Ok(Fabric::new(self, &self.directory()?.fabric))
    }
}

impl<'a> Fabric<'a> {
    pub(super) fn new(cluster: &'a Cluster<'a>, table: &'a ArchivedFabric) -> Self {
        Self { cluster, table }
    }

    /// Switches.
    pub fn switches(self) -> impl ExactSizeIterator<Item = FabricVertex<'a>> {
        (0..self.switch_count()).map(move |number| self.vertex(number))
    }

    /// Ports of nodes, also of those that are not in the cluster.
    pub fn ports(self) -> impl ExactSizeIterator<Item = FabricVertex<'a>> {
        (self.switch_count()..self.end()).map(move |number| self.vertex(number))
    }

    /// Ports of a node.
    pub fn ports_of(
        self,
        node: ClusterNode<'a>,
    ) -> impl ExactSizeIterator<Item = FabricVertex<'a>> + Clone {
        self.numbers_of(node).map(move |number| self.vertex(number))
    }

    /// The numbers of the ports of a node.
    #[inline]
    fn numbers_of(self, node: ClusterNode<'a>) -> Range<u32> {
        let at = |row: u32| self.table.port_first.get_u32(row as usize);
        let (first, end) = (at(node.number()), at(node.number().saturating_add(1)));
        let start = self.switch_count();
        start.saturating_add(first)..start.saturating_add(end)
    }

    /// Least number of links between a port of one node and a port of another: 2 if they are at one
    /// switch. `None` if there is no way.
    #[must_use]
    pub fn hops_of_nodes(self, one: ClusterNode<'a>, other: ClusterNode<'a>) -> Option<u32> {
        /// Up to so many pairs, a look at the table for each is faster than a search.
        const MOST_LOOKS: usize = 64;
        let (ports, others) = (self.numbers_of(one), self.numbers_of(other));
        let search = || self.search(self.ports_of(one), self.ports_of(other));
        if ports.len() * others.len() > MOST_LOOKS {
            return search();
        }
        let mut pairs = ports.flat_map(|port| others.clone().map(move |other| (port, other)));
        let least = pairs.try_fold(NO_WAY, |least, (port, other)| {
            Some(least.min(self.look_up(self.vertex(port), self.vertex(other))?))
        });
        match least {
            Some(hops) => known(hops),
            None => search(),
        }
    }

    /// Least number of links between two ports: 2 if they are at one switch. `None` if there is no
    /// way.
    #[must_use]
    #[inline]
    pub fn hops(self, one: FabricVertex<'a>, other: FabricVertex<'a>) -> Option<u32> {
        match self.look_up(one, other) {
            Some(hops) => known(hops),
            None => self.search(core::iter::once(one), core::iter::once(other)),
        }
    }

    /// Links between two vertices by the table, or [`NO_WAY`]. `None` if it is not in the table.
    #[inline]
    fn look_up(self, one: FabricVertex<'a>, other: FabricVertex<'a>) -> Option<u32> {
        if one == other {
            return Some(0);
        }
        let (leaf, other_leaf) = (one.leaf()?, other.leaf()?);
        let ends = u32::from(leaf != one.number) + u32::from(other_leaf != other.number);
        if leaf == other_leaf {
            return Some(ends);
        }
        let row = |switch: u32| self.table.row_of.get_u32(switch as usize).checked_sub(1);
        let (row, other) = row(leaf).zip(row(other_leaf))?;
        let plus_one = self.table.hops_between(row, other);
        Some(plus_one.checked_sub(1).map_or(NO_WAY, |hops| ends + hops))
    }

    /// Number of links.
    #[must_use]
    pub fn link_count(self) -> usize {
        self.table.peer.len() / 2
    }

    /// What comes after the last port.
    fn end(self) -> u32 {
        u32::try_from(self.table.guid.len()).unwrap_or(u32::MAX)
    }

    /// Number of nodes of the cluster.
    pub(super) fn node_count(self) -> usize {
        self.cluster.node_count() as usize
    }

    /// Number of switches and ports.
    pub(super) fn vertex_count(self) -> usize {
        self.table.guid.len()
    }

    fn switch_count(self) -> u32 {
        self.table.switches.to_native()
    }

    #[inline]
    fn vertex(self, number: u32) -> FabricVertex<'a> {
        FabricVertex { fabric: self, number }
    }
}

impl<'a> FabricVertex<'a> {
    /// Whether this is a switch.
    #[must_use]
    #[inline]
    pub fn is_switch(self) -> bool {
        self.number < self.fabric.switch_count()
    }

    /// GUID: of a switch, that of the node; of a port, that of the port.
    #[must_use]
    pub fn guid(self) -> u64 {
        self.fabric.table.guid.get(self.row())
    }

    /// What the fabric calls it, such as `node001 HCA-1`.
    #[must_use]
    pub fn name(self) -> &'a str {
        text_at(&self.fabric.table.name_end, &self.fabric.table.names, self.row())
    }

    /// Local identifier, `None` if unknown.
    #[must_use]
    pub fn lid(self) -> Option<u16> {
        u16::try_from(self.fabric.table.lid.get(self.row())).ok().filter(|lid| *lid > 0)
    }

    /// Number of ports, connected or not: 1 for a port.
    #[must_use]
    pub fn port_count(self) -> u16 {
        u16::try_from(self.fabric.table.ports.get(self.row())).unwrap_or(u16::MAX)
    }

    /// The node that a port belongs to, `None` for a switch and for a node that is not in the
    /// cluster.
    #[must_use]
    pub fn node(self) -> Option<ClusterNode<'a>> {
        self.fabric.cluster.node(self.node_number()?)
    }

    /// Number of the node that a port belongs to.
    pub(super) fn node_number(self) -> Option<u32> {
        self.fabric.table.node.get_u32(self.row()).checked_sub(1)
    }

    /// Position among switches, then ports.
    pub(super) fn number(self) -> usize {
        self.row()
    }

    /// Number of the plane: of the connected part of the fabric that this is in.
    #[must_use]
    pub fn plane(self) -> u16 {
        u16::try_from(self.fabric.table.plane.get(self.row())).unwrap_or(u16::MAX)
    }

    /// Links of this vertex.
    pub fn links(self) -> impl ExactSizeIterator<Item = FabricLink<'a>> {
        let table = self.fabric.table;
        let small = |value: u64| u16::try_from(value).unwrap_or(u16::MAX);
        let first = table.link_first.get_u32(self.row()) as usize;
        let end = table.link_first.get_u32(self.row() + 1) as usize;
        (first..end.max(first)).map(move |row| FabricLink {
            peer: self.fabric.vertex(table.peer.get_u32(row)),
            port: small(table.port.get(row)),
            peer_port: small(table.peer_port.get(row)),
            mbps: Some(table.rate.get_u32(row)).filter(|rate| *rate > 0),
        })
    }

    /// The switch itself, or the switch that a port is connected to by its only link.
    #[inline]
    fn leaf(self) -> Option<u32> {
        self.fabric.table.leaf.get_u32(self.row()).checked_sub(1)
    }

    #[inline]
    fn row(self) -> usize {
        self.number as usize
    }
}
