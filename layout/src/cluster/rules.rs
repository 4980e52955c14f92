//! The rules of groups and fabric, which are checked one by one before a directory is read.

use super::directory::{
    ArchivedDirectory, ArchivedFabric, ArchivedGroups, GROUP_KINDS, MAX_GROUP_DEPTH, MAX_PORTS,
    cells_before,
};
use crate::column::{ArchivedColumn, partition_point};
use crate::error::{OpenError, ValidationError};
use crate::validate::{ROWS_A_BYTE, check_rules, ensure};

/// Checks a directory of a cluster of `nodes` nodes and gives access to it. If it is certified,
/// ports and links are not checked one by one: a search among any others ends too.
///
/// # Errors
///
/// [`OpenError`] for the first rule that is broken.
pub fn open(bytes: &[u8], nodes: u32, is_certified: bool) -> Result<&ArchivedDirectory, OpenError> {
    let directory = rkyv::access::<ArchivedDirectory, rkyv::rancor::Error>(bytes)
        .map_err(|error: rkyv::rancor::Error| OpenError::Archive(error.into()))?;
    let most_rows = bytes.len().saturating_mul(ROWS_A_BYTE);
    check_groups(&directory.groups, nodes, most_rows)?;
    check_fabric(&directory.fabric, nodes, most_rows, is_certified)?;
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
        (&groups.sizes_end, count, groups.sizes.len() as u64 + 1),
        (&groups.member_first, count, u64::from(nodes) + 1),
        (&groups.member_end, count, u64::from(nodes) + 1),
        (&groups.members, members, nodes.into()),
        (&groups.missing_end, missing, groups.missing.len() as u64 + 1),
    ];
    check_rules(&rules, GROUPS, most_rows)?;
    ensure(count > 0, "groups.parent", 0, "group 0 is the cluster")?;
    ensure(groups.end.get(0) == count as u64, "groups.end", 0, "all groups are in the cluster")?;
    check_texts(&groups.name_end, &groups.names, "groups.names")?;
    check_texts(&groups.sizes_end, &groups.sizes, "groups.sizes")?;
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

fn check_fabric(
    fabric: &ArchivedFabric,
    nodes: u32,
    most_rows: usize,
    is_certified: bool,
) -> Result<(), ValidationError> {
    let (vertices, links) = (fabric.guid.len(), fabric.peer.len());
    let (switches, hops) = (fabric.switches.to_native() as usize, fabric.hops.len());
    ensure(switches <= vertices, "fabric.switches", switches, "are vertices")?;
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
        (&fabric.row_of, with_hops, switches as u64 + 1),
        (&fabric.hops, hops, switches as u64 + 1),
    ];
    check_rules(&rules, FABRIC, most_rows)?;
    check_texts(&fabric.name_end, &fabric.names, "fabric.names")?;
    ensure(fabric.port_first.is_sorted(), "fabric.port_first", 0, "ascends")?;
    ensure(fabric.link_first.is_sorted(), "fabric.link_first", 0, "ascends")?;
    let ends = (fabric.link_first.get(0), fabric.link_first.get(vertices));
    let is_all = vertices == 0 || ends == (0, links as u64);
    ensure(is_all, "fabric.link_first", vertices, "has all links")?;
    if !is_certified {
        check_ports(fabric, nodes, switches)?;
        check_links(fabric, vertices, switches)?;
    }
    // Whether the hops are those of the links is not checked: it would take a search from each row.
    let rows = fabric.row_of.iter().max().unwrap_or(0);
    let rule = "each row has a cell for each row up to itself";
    ensure(cells_before(rows) == hops as u64, "fabric.hops", hops, rule)
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

/// Checks that each link is there once in each direction, and that leaves follow from the links.
fn check_links(
    fabric: &ArchivedFabric,
    vertices: usize,
    switches: usize,
) -> Result<(), ValidationError> {
    let row = |vertex: usize| fabric.link_first.get_u32(vertex);
    let links_of = |vertex: usize| row(vertex)..row(vertex + 1);
    for vertex in 0..vertices {
        let mut last = None;
        for link in links_of(vertex).map(|link| link as usize) {
            let (peer, port) = (fabric.peer.get_u32(link) as usize, fabric.port.get(link));
            ensure(last < Some(port), "fabric.port", link, "ports of a vertex ascend")?;
            last = Some(port);
            let others = links_of(peer);
            let back = fabric.peer_port.get(link);
            let found =
                partition_point(others.clone(), |other| fabric.port.get(other as usize) < back);
            let at = found as usize;
            let is_back = others.contains(&found)
                && fabric.port.get(at) == back
                && fabric.peer_port.get(at) == port
                && fabric.peer.get(at) == vertex as u64;
            ensure(is_back, "fabric.peer", link, "each link is there once in each direction")?;
        }
        let peer = fabric.peer.get(row(vertex) as usize);
        let expected = match links_of(vertex).len() {
            _ if vertex < switches => vertex as u64 + 1,
            1 if peer < switches as u64 => peer + 1,
            _ => 0,
        };
        let rule = "is the switch itself, or the switch at the end of a port's only link";
        ensure(fabric.leaf.get(vertex) == expected, "fabric.leaf", vertex, rule)?;
    }
    Ok(())
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
                      groups.sizes_end groups.member_first groups.member_end groups.members \
                      groups.missing_end";
const FABRIC: &str = "fabric.guid fabric.name_end fabric.ports fabric.lid fabric.node \
                      fabric.plane fabric.link_first fabric.peer fabric.port fabric.peer_port \
                      fabric.rate fabric.leaf fabric.port_first fabric.row_of fabric.hops";
