//! What is above the nodes: groups, and the switches, ports and links of a fabric.

use crate::column::{ArchivedColumn, Column};
use crate::encode::{AlignedVec, EncodeError};
use crate::error::{OpenError, ValidationError};
use crate::validate::{ROWS_A_BYTE, check_rules, ensure};
use alloc::vec::Vec;
use core::ops::Range;
use rkyv::{Archive, Serialize};

/// Number of kinds of groups.
pub const GROUP_KINDS: u64 = 5;

/// Highest number of groups above a node.
pub const MAX_GROUP_DEPTH: usize = 64;

/// Highest number of ports of a node: far more than any has.
pub const MAX_PORTS: u64 = 1024;

/// Groups and fabric of a cluster. Group 0 is the cluster itself. The groups in a group follow it,
/// up to its `end`, and the nodes of a group and of all groups in it are a run of `members`.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Directory {
    pub groups: Groups,
    pub fabric: Fabric,
}

/// Groups of nodes: switches, blocks, racks.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Groups {
    pub parent: Column,
    pub end: Column,
    pub kind: Column,
    pub speed: Column,
    pub name_end: Column,
    pub names: Vec<u8>,
    pub member_first: Column,
    pub member_end: Column,
    pub members: Column,
    pub missing_end: Column,
    pub missing: Vec<u8>,
}

/// Switches and host ports, together the *vertices*: first all switches, then all ports. And the
/// links between them, sorted by their first vertex; each is there once in each direction.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Fabric {
    pub guid: Column,
    pub switches: u32,
    pub name_end: Column,
    pub names: Vec<u8>,
    pub ports: Column,
    pub lid: Column,
    pub node: Column,
    pub plane: Column,
    pub link_first: Column,
    pub peer: Column,
    pub port: Column,
    pub peer_port: Column,
    pub rate: Column,
    pub leaf: Column,
    /// By node: the first of its ports, counted from the first port; then what is behind the last.
    /// Empty if there are no ports. Ports are in the order of their nodes.
    pub port_first: Column,
    pub row_of: Column,
    pub hops: Column,
}

impl Directory {
    /// Archives the directory. The bytes are valid at any address that is a multiple of 16.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Serialize`].
    pub fn to_bytes(&self) -> Result<AlignedVec, EncodeError> {
        rkyv::to_bytes::<rkyv::rancor::Error>(self)
            .map_err(|error| EncodeError::Serialize(error.into()))
    }
}

/// Packs texts as their bytes and the end of each.
#[must_use]
pub fn pack_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> (Column, Vec<u8>) {
    let (mut ends, mut bytes) = (Vec::new(), Vec::new());
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        ends.push(bytes.len() as u64);
    }
    (Column::pack(&ends), bytes)
}

/// A text that [`pack_texts`] packed.
#[must_use]
pub fn text_at<'a>(ends: &ArchivedColumn, bytes: &'a [u8], row: usize) -> &'a str {
    let end = |row: usize| usize::try_from(ends.get(row)).unwrap_or(usize::MAX);
    let first = row.checked_sub(1).map_or(0, end);
    core::str::from_utf8(bytes.get(first..end(row)).unwrap_or_default()).unwrap_or_default()
}

/// Checks a directory of a cluster of `nodes` nodes and gives access to it.
///
/// # Errors
///
/// [`OpenError`] for the first rule that is broken.
pub fn open(bytes: &[u8], nodes: u32) -> Result<&ArchivedDirectory, OpenError> {
    let directory = rkyv::access::<ArchivedDirectory, rkyv::rancor::Error>(bytes)
        .map_err(|error: rkyv::rancor::Error| OpenError::Archive(error.into()))?;
    let most_rows = bytes.len().saturating_mul(ROWS_A_BYTE);
    check_groups(&directory.groups, nodes, most_rows)?;
    check_fabric(&directory.fabric, nodes, most_rows)?;
    Ok(directory)
}

fn check_groups(
    groups: &ArchivedGroups,
    nodes: u32,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let (count, members) = (groups.parent.len(), groups.members.len());
    let missing = groups.missing_end.len();
    ensure(members == nodes as usize, "groups.members", members, "has each node")?;
    let rules = [
        (&groups.parent, count, count as u64),
        (&groups.end, count, count as u64 + 1),
        (&groups.kind, count, GROUP_KINDS),
        (&groups.speed, count, 1 << 32),
        (&groups.name_end, count, groups.names.len() as u64 + 1),
        (&groups.member_first, count, u64::from(nodes) + 1),
        (&groups.member_end, count, u64::from(nodes) + 1),
        (&groups.members, members, nodes.into()),
        (&groups.missing_end, missing, groups.missing.len() as u64 + 1),
    ];
    check_rules(&rules, GROUPS, most_rows)?;
    ensure(count > 0, "groups.parent", 0, "group 0 is the cluster")?;
    ensure(groups.end.get(0) == count as u64, "groups.end", 0, "all groups are in the cluster")?;
    check_texts(&groups.name_end, &groups.names, "groups.names")?;
    check_texts(&groups.missing_end, &groups.missing, "groups.missing")?;
    let all = (groups.member_first.get(0), groups.member_end.get(0));
    ensure(all == (0, nodes.into()), "groups.member_end", 0, "all nodes are in the cluster")?;
    let mut depth = alloc::vec![0_u8; count];
    // By group: the end of the members of the groups in it so far.
    let mut taken = alloc::vec![0_u64; count];
    for row in 1..count {
        let parent = groups.parent.get_u32(row) as usize;
        ensure(parent < row, "groups.parent", row, "a group comes before those in it")?;
        let above = depth.get(parent).copied().unwrap_or(0);
        ensure(usize::from(above) < MAX_GROUP_DEPTH, "groups.parent", row, "at most 64 deep")?;
        if let Some(depth) = depth.get_mut(row) {
            *depth = above + 1;
        }
        let (end, end_of_parent) = (groups.end.get(row), groups.end.get(parent));
        let is_inside = (row as u64) < end && end <= end_of_parent;
        ensure(is_inside && ends_before(groups, row, parent), "groups.end", row, FOLLOW)?;
        let run = |row| groups.member_first.get(row)..groups.member_end.get(row);
        let (own, of_parent) = (run(row), run(parent));
        let is_within = own.start <= own.end
            && (own.is_empty() || of_parent.start <= own.start && own.end <= of_parent.end);
        ensure(is_within, "groups.member_first", row, "members are members of the parent")?;
        if let Some(taken) = taken.get_mut(parent).filter(|_| !own.is_empty()) {
            let rule = "groups in one group have different members";
            ensure(own.start >= *taken, "groups.member_first", row, rule)?;
            *taken = own.end;
        }
    }
    ensure(ends_before(groups, count, 0), "groups.end", count, FOLLOW)?;
    let mut is_there = alloc::vec![false; members];
    for row in 0..members {
        let place = is_there.get_mut(groups.members.get_u32(row) as usize);
        let is_new = place.is_some_and(|place| !core::mem::replace(place, true));
        ensure(is_new, "groups.members", row, "has each node once")?;
    }
    Ok(())
}

/// The rule of the ends of groups.
const FOLLOW: &str = "groups in a group follow it, up to its end";

/// Whether the groups that are open before a row, up to one that they are in, end at that row.
fn ends_before(groups: &ArchivedGroups, row: usize, up_to: usize) -> bool {
    let mut above = row.saturating_sub(1);
    while above > up_to && groups.end.get(above) == row as u64 {
        above = groups.parent.get_u32(above) as usize;
    }
    above == up_to
}

impl ArchivedGroups {
    /// The group that each node is directly in: the lowest one that has it as a member.
    #[must_use]
    pub fn of_nodes(&self) -> Vec<u32> {
        let mut of_members = alloc::vec![0; self.members.len()];
        for (row, group) in (0..self.parent.len()).zip(0_u32..) {
            let run =
                self.member_first.get_u32(row) as usize..self.member_end.get_u32(row) as usize;
            of_members.get_mut(run).into_iter().flatten().for_each(|it| *it = group);
        }
        let mut of_nodes = alloc::vec![0; of_members.len()];
        for (row, group) in of_members.into_iter().enumerate() {
            let node = of_nodes.get_mut(self.members.get_u32(row) as usize);
            node.into_iter().for_each(|node| *node = group);
        }
        of_nodes
    }
}

fn check_fabric(
    fabric: &ArchivedFabric,
    nodes: u32,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let (vertices, links) = (fabric.guid.len(), fabric.peer.len());
    let (switches, hops) = (fabric.switches.to_native() as usize, fabric.hops.len());
    ensure(switches <= vertices, "fabric.switches", switches, "are vertices")?;
    // As many rows as the square has columns.
    let rows = hops.isqrt();
    ensure(rows * rows == hops, "fabric.hops", hops, "is a square")?;
    let with_hops = if hops == 0 { 0 } else { switches };
    let ports = vertices - switches;
    let with_ports = if ports == 0 { 0 } else { nodes as usize + 1 };
    let rules = [
        (&fabric.guid, vertices, u64::MAX),
        (&fabric.name_end, vertices, fabric.names.len() as u64 + 1),
        (&fabric.ports, vertices, 1 << 16),
        (&fabric.lid, vertices, 1 << 16),
        (&fabric.node, vertices, u64::from(nodes) + 1),
        (&fabric.plane, vertices, 1 << 16),
        (&fabric.link_first, if vertices == 0 { 0 } else { vertices + 1 }, links as u64 + 1),
        (&fabric.peer, links, vertices as u64),
        (&fabric.port, links, 1 << 16),
        (&fabric.peer_port, links, 1 << 16),
        (&fabric.rate, links, 1 << 32),
        (&fabric.leaf, vertices, switches as u64 + 1),
        (&fabric.port_first, with_ports, ports as u64 + 1),
        (&fabric.row_of, with_hops, rows as u64 + 1),
        (&fabric.hops, hops, switches as u64 + 1),
    ];
    check_rules(&rules, FABRIC, most_rows)?;
    check_texts(&fabric.name_end, &fabric.names, "fabric.names")?;
    ensure(fabric.port_first.is_sorted(), "fabric.port_first", 0, "ascends")?;
    ensure(fabric.link_first.is_sorted(), "fabric.link_first", 0, "ascends")?;
    let ends = (fabric.link_first.get(0), fabric.link_first.get(vertices));
    let is_all = vertices == 0 || ends == (0, links as u64);
    ensure(is_all, "fabric.link_first", vertices, "has all links")?;
    check_ports(fabric, nodes, switches)?;
    check_links(fabric, vertices, switches)
}

/// Checks that ports are in the order of their nodes, and that `port_first` has the first of each.
fn check_ports(
    fabric: &ArchivedFabric,
    nodes: u32,
    switches: usize,
) -> Result<(), ValidationError> {
    let ports = fabric.guid.len() - switches;
    for switch in 0..switches {
        ensure(fabric.node.get(switch) == 0, "fabric.node", switch, "a switch is of no node")?;
    }
    if ports == 0 {
        return Ok(());
    }
    let rule = "the ports of each node are a run, up to the last port";
    ensure(fabric.port_first.get(nodes as usize) == ports as u64, "fabric.port_first", 0, rule)?;
    let mut end = 0;
    // Ports that are of no node come before those of node 0.
    for node in 0..=nodes as usize {
        let first = end;
        end = fabric.port_first.get(node);
        let is_few = node == 0 || end - first <= MAX_PORTS;
        ensure(is_few, "fabric.port_first", node, "a node has 1024 ports at most")?;
        for port in first..end {
            let vertex = switches.saturating_add(usize::try_from(port).unwrap_or(usize::MAX));
            ensure(fabric.node.get(vertex) == node as u64, "fabric.node", vertex, rule)?;
        }
    }
    Ok(())
}

/// Checks that each link is there once in each direction, and that leaves are the switches that ports
/// are linked to.
fn check_links(
    fabric: &ArchivedFabric,
    vertices: usize,
    switches: usize,
) -> Result<(), ValidationError> {
    let row = |vertex: usize| fabric.link_first.get_u32(vertex) as usize;
    let links_of = |vertex: usize| row(vertex)..row(vertex + 1);
    for vertex in 0..vertices {
        let mut last = None;
        let mut leaf = None;
        for link in links_of(vertex) {
            let (peer, port) = (fabric.peer.get_u32(link) as usize, fabric.port.get(link));
            ensure(last < Some(port), "fabric.port", link, "ports of a vertex ascend")?;
            last = Some(port);
            leaf = leaf.or((peer < switches).then_some(peer));
            let others = links_of(peer);
            let back = fabric.peer_port.get(link);
            let at = partition_point(others.clone(), |other| fabric.port.get(other) < back);
            let is_back = others.contains(&at)
                && fabric.port.get(at) == back
                && fabric.peer_port.get(at) == port
                && fabric.peer.get(at) == vertex as u64;
            ensure(is_back, "fabric.peer", link, "each link is there once in each direction")?;
        }
        let leaf = if vertex < switches { Some(vertex) } else { leaf };
        let expected = leaf.map_or(0, |leaf| leaf as u64 + 1);
        let rule = "is the switch itself, or the first one that the port is linked to";
        ensure(fabric.leaf.get(vertex) == expected, "fabric.leaf", vertex, rule)?;
    }
    Ok(())
}

/// The first of these rows for which `is_before` does not hold. The rows ascend.
fn partition_point(rows: Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut first, mut end) = (rows.start, rows.end);
    while first < end {
        let middle = first.midpoint(end);
        match is_before(middle) {
            true => first = middle + 1,
            false => end = middle,
        }
    }
    first
}

fn check_texts(
    ends: &ArchivedColumn,
    bytes: &[u8],
    column: &'static str,
) -> Result<(), ValidationError> {
    ensure(ends.is_sorted(), column, 0, "ends of names ascend")?;
    let mut first = 0;
    for row in 0..ends.len() {
        let end = usize::try_from(ends.get(row)).unwrap_or(usize::MAX);
        let text = bytes.get(first..end).map(core::str::from_utf8);
        let is_plain = |text: &str| !text.chars().any(char::is_control);
        let rule = "names are UTF-8 without control characters";
        ensure(matches!(text, Some(Ok(text)) if is_plain(text)), column, row, rule)?;
        first = end;
    }
    Ok(())
}

/// The names of the columns, in the order of the rules.
const GROUPS: &str = "groups.parent groups.end groups.kind groups.speed groups.name_end \
                      groups.member_first groups.member_end groups.members groups.missing_end";
const FABRIC: &str = "fabric.guid fabric.name_end fabric.ports fabric.lid fabric.node \
                      fabric.plane fabric.link_first fabric.peer fabric.port fabric.peer_port \
                      fabric.rate fabric.leaf fabric.port_first fabric.row_of fabric.hops";
