//! The rows of a graph of links: which vertex is in which, in an order in which few links cross, and
//! where a link passes a row that neither of its ends is in.

use std::collections::{BTreeMap, BTreeSet};
use topobroker_reader::links::{Link, LinkClass, Links, VertexId, VertexKind};

/// A place in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spot {
    Vertex(VertexId),
    /// Where the links of a class to a vertex below pass between the vertices of this row.
    Pass(u32, VertexId, LinkClass),
}

pub(crate) struct Rows(BTreeMap<u32, Vec<Spot>>);

impl Rows {
    pub(crate) fn new(links: &Links<'_>) -> Self {
        let mut rows: BTreeMap<u32, Vec<Spot>> = BTreeMap::new();
        for (vertex, found) in links.vertex_ids().zip(links.vertices()) {
            rows.entry(row(found.kind)).or_default().push(Spot::Vertex(vertex));
        }
        let mut rows = Self(rows);
        let paths: Vec<Vec<Spot>> =
            links.links().iter().map(|link| rows.path(links, link)).collect();
        let passes: BTreeSet<Spot> = paths.iter().flatten().copied().collect();
        for pass in passes {
            if let Spot::Pass(number, ..) = pass {
                rows.0.entry(number).or_default().push(pass);
            }
        }
        rows.order(&paths);
        rows
    }

    /// From above to below.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Vec<Spot>> {
        self.0.values()
    }

    /// The spots of a link, from above to below.
    pub(crate) fn path(&self, links: &Links<'_>, link: &Link) -> Vec<Spot> {
        let row_of = |vertex| links.vertex(vertex).map_or(0, |it| row(it.kind));
        let mut ends = [link.one, link.other].map(|it| (row_of(it), it));
        ends.sort_by_key(|(row, _)| *row);
        let [(first, above), (last, below)] = ends;
        let between = self.0.range(first..last).skip(1);
        let passes = between.map(|(number, _)| Spot::Pass(*number, below, link.class));
        [Spot::Vertex(above)].into_iter().chain(passes).chain([Spot::Vertex(below)]).collect()
    }

    /// Orders each row by where the neighbours in other rows are, from below to above and back.
    fn order(&mut self, paths: &[Vec<Spot>]) {
        let mut neighbours: BTreeMap<Spot, Vec<Spot>> = BTreeMap::new();
        for path in paths {
            for (upper, lower) in path.iter().zip(path.iter().skip(1)) {
                neighbours.entry(*upper).or_default().push(*lower);
                neighbours.entry(*lower).or_default().push(*upper);
            }
        }
        let numbers: Vec<u32> = self.0.keys().copied().collect();
        for number in numbers.iter().rev().chain(&numbers).chain(numbers.iter().rev()) {
            let mut at: BTreeMap<Spot, u64> = BTreeMap::new();
            for row in self.0.iter().filter(|(row, _)| *row != number).map(|(_, row)| row) {
                let step = 1_000_000 / (row.len() as u64 + 1);
                at.extend(row.iter().zip(1u64..).map(|(spot, place)| (*spot, place * step)));
            }
            let middle = |spot: &Spot| {
                let near = neighbours.get(spot).into_iter().flatten().filter_map(|it| at.get(it));
                let (sum, count) = near.fold((0, 0), |(sum, count), it| (sum + it, count + 1));
                u64::checked_div(sum, count).unwrap_or(500_000)
            };
            if let Some(row) = self.0.get_mut(number) {
                row.sort_by_key(|spot| (middle(spot), *spot));
            }
        }
    }
}

/// Number of a row, from above.
fn row(kind: VertexKind) -> u32 {
    match kind {
        VertexKind::NetSwitch | VertexKind::Remote => 0,
        VertexKind::NvSwitch => 1,
        VertexKind::Gpu | VertexKind::Nic | VertexKind::Block => 2,
        VertexKind::PciSwitch => 3,
        VertexKind::HostBridge => 4,
        VertexKind::Cpu | VertexKind::Mesh => 5,
        VertexKind::Memory => 6,
    }
}
