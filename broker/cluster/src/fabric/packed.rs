//! A fabric as it is written into a cluster.

use super::graph::{FabricGraph, Vertex};
use std::collections::{BTreeMap, HashMap, VecDeque};
use topobroker_layout::cluster::directory::Fabric;
use topobroker_layout::column::Column;
use topobroker_layout::packed_texts::pack_texts;

/// Most rows of the table of hops. Above, ways are searched when they are asked for.
const MOST_ROWS: usize = 1024;

/// Packs a fabric of a cluster of so many nodes. `node_of` has the number of the node of a port, by
/// the GUID of the port.
pub(crate) fn pack(
    graph: &FabricGraph,
    nodes: usize,
    node_of: impl Fn(u64) -> Option<u32>,
) -> Fabric {
    // Ports are in the order of their nodes; those of nodes that are not in the cluster come first.
    let of_node = |guid: u64| node_of(guid).map_or(0, |node| u64::from(node) + 1);
    let is_port = |(guid, port): &(&u64, &Vertex)| of_node(**guid) > 0 || !port.is_of_no_host();
    let mut ports: Vec<(&u64, &Vertex)> = graph.ports.iter().filter(is_port).collect();
    ports.sort_by_key(|(guid, _)| (of_node(**guid), **guid));
    let port_first: Vec<u64> = match ports.is_empty() {
        true => Vec::new(),
        false => (0..=nodes as u64)
            .map(|node| ports.partition_point(|(guid, _)| of_node(**guid) <= node) as u64)
            .collect(),
    };
    let vertices: Vec<(u64, &Vertex)> =
        graph.switches.iter().chain(ports).map(|(guid, it)| (*guid, it)).collect();
    let place: HashMap<u64, usize> =
        vertices.iter().enumerate().map(|(place, (guid, _))| (*guid, place)).collect();
    let switches = graph.switches.len();
    let mut links: Vec<Vec<Half>> = vec![Vec::new(); vertices.len()];
    for (from, (to, mbps)) in &graph.links {
        let ends = place.get(&from.guid).zip(place.get(&to.guid));
        if let Some((links, peer)) = ends.and_then(|(at, peer)| Some((links.get_mut(*at)?, peer))) {
            let mbps = mbps.unwrap_or(0);
            links.push(Half { peer: *peer, port: from.port, peer_port: to.port, mbps });
        }
    }
    let column = |value: &dyn Fn(u64, &Vertex) -> u64| {
        let values = vertices.iter().map(|(guid, vertex)| value(*guid, vertex));
        Column::pack(&values.collect::<Vec<_>>())
    };
    let all = || links.iter().flatten();
    let of_links =
        |value: &dyn Fn(&Half) -> u64| Column::pack(&all().map(value).collect::<Vec<_>>());
    let mut link_first: Vec<u64> = Vec::new();
    let mut count = 0;
    if !vertices.is_empty() {
        for own in &links {
            link_first.push(count);
            count += own.len() as u64;
        }
        link_first.push(count);
    }
    // Anybody may name a host, and a terminal may obey control characters.
    let plain = |name: &str| name.replace(char::is_control, "?");
    let names: Vec<String> = vertices.iter().map(|(_, it)| plain(&it.name)).collect();
    let (name_end, names) = pack_texts(names.iter().map(String::as_str));
    let planes = planes(&links);
    let leaf = |(place, own): (usize, &Vec<Half>)| match own[..] {
        _ if place < switches => place as u64 + 1,
        [only] if only.peer < switches => only.peer as u64 + 1,
        _ => 0,
    };
    let leaves: Vec<u64> = links.iter().enumerate().map(leaf).collect();
    let (row_of, hops) = hops(&links, switches);
    Fabric {
        guid: column(&|guid, _| guid),
        switches: u32::try_from(switches).unwrap_or(u32::MAX),
        name_end,
        names,
        ports: column(&|_, vertex| vertex.ports.into()),
        lid: column(&|_, vertex| vertex.lid.into()),
        node: column(&|guid, _| of_node(guid)),
        plane: Column::pack(&planes),
        link_first: Column::pack(&link_first),
        peer: of_links(&|link| link.peer as u64),
        port: of_links(&|link| link.port.into()),
        peer_port: of_links(&|link| link.peer_port.into()),
        rate: of_links(&|link| link.mbps.into()),
        leaf: Column::pack(&leaves),
        port_first: Column::pack(&port_first),
        row_of: Column::pack(&row_of),
        hops: Column::pack(&hops),
    }
}

type Links = [Vec<Half>];

/// A link as one of its ends has it.
#[derive(Clone, Copy)]
struct Half {
    peer: usize,
    port: u16,
    peer_port: u16,
    mbps: u32,
}

/// The connected part that each vertex is in.
fn planes(links: &Links) -> Vec<u64> {
    let mut planes: Vec<Option<u64>> = vec![None; links.len()];
    let mut next = 0;
    for start in 0..links.len() {
        if planes.get(start).copied().flatten().is_some() {
            continue;
        }
        let mut open = vec![start];
        while let Some(vertex) = open.pop() {
            if let Some(plane) = planes.get_mut(vertex).filter(|plane| plane.is_none()) {
                *plane = Some(next);
                open.extend(links.get(vertex).into_iter().flatten().map(|link| link.peer));
            }
        }
        next += 1;
    }
    planes.into_iter().map(|plane| plane.unwrap_or(0).min(u64::from(u16::MAX) - 1)).collect()
}

/// The row of each switch that nodes are at plus one, 0 of others, and the table of the links
/// between switches of two rows plus one; 0 is no way. A row has a cell for each row up to itself:
/// ways are equally long in both directions. Switches with the same neighbours share a row, because
/// the ways from them to any other switch are equally long; the row's own cell is for the way
/// between two of them.
fn hops(links: &Links, switches: usize) -> (Vec<u64>, Vec<u64>) {
    let of_switch = |own: &Vec<Half>| {
        let mut all: Vec<usize> =
            own.iter().map(|link| link.peer).filter(|peer| *peer < switches).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let neighbours: Vec<Vec<usize>> = links.iter().take(switches).map(of_switch).collect();
    let mut rows: BTreeMap<&Vec<usize>, usize> = BTreeMap::new();
    let mut examples: Vec<usize> = Vec::new();
    let mut row_of = Vec::new();
    for ((switch, own), links) in neighbours.iter().enumerate().zip(links) {
        let is_leaf = links.iter().any(|link| link.peer >= switches);
        let row = is_leaf.then(|| {
            *rows.entry(own).or_insert_with(|| {
                examples.push(switch);
                examples.len()
            })
        });
        row_of.push(row.unwrap_or(0) as u64);
    }
    if examples.len() > MOST_ROWS || examples.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let mut table = Vec::new();
    for (row, start) in examples.iter().enumerate() {
        let mut far: Vec<Option<u64>> = vec![None; switches];
        let mut open = VecDeque::from([(*start, 0)]);
        while let Some((switch, hops)) = open.pop_front() {
            if let Some(far) = far.get_mut(switch).filter(|far| far.is_none()) {
                *far = Some(hops);
                let peers = neighbours.get(switch).into_iter().flatten();
                open.extend(peers.map(|peer| (*peer, hops + 1)));
            }
        }
        let first = table.len();
        table.resize(first + row + 1, 0);
        for (switch, of_row) in row_of.iter().enumerate().filter(|(switch, _)| switch != start) {
            let column = usize::try_from(*of_row).ok().and_then(|row| row.checked_sub(1));
            // Rows that follow have no cell here.
            let cell = column.and_then(|column| table.get_mut(first + column));
            if let Some((cell, hops)) = cell.zip(far.get(switch).copied().flatten()) {
                *cell = hops + 1;
            }
        }
    }
    (row_of, table)
}
