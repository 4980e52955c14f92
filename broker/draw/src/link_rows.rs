//! The rows of a graph of links: which vertex is in which, in an order in which few links cross,
//! and where a link passes a row that neither of its ends is in. In graph drawing such rows are
//! called layers, and such places dummy vertices.

use std::collections::{BTreeMap, BTreeSet};
use topobroker_reader::links::{Link, LinkClass, Links, VertexId, VertexKind};

/// A place in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spot {
    Vertex(VertexId),
    /// Where links of a class to a vertex below pass between the vertices of a row.
    Pass {
        row: u32,
        to: VertexId,
        class: LinkClass,
    },
}

#[derive(Default)]
pub(crate) struct Row {
    pub(crate) spots: Vec<Spot>,
    /// Whether links have both ends in it. They are arcs above it.
    pub(crate) has_arcs: bool,
}

pub(crate) struct Rows {
    /// By number, from above.
    rows: BTreeMap<u32, Row>,
    /// The spots of each link, from above to below.
    pub(crate) paths: Vec<Vec<Spot>>,
}

impl Rows {
    pub(crate) fn new(links: &Links<'_>) -> Self {
        let mut rows = Self { rows: BTreeMap::new(), paths: Vec::new() };
        for (vertex, found) in links.vertex_ids().zip(links.vertices()) {
            rows.row(number_of_row(found.kind)).spots.push(Spot::Vertex(vertex));
        }
        let row_of = |vertex| links.vertex(vertex).map_or(0, |it| number_of_row(it.kind));
        rows.paths = links.links().iter().map(|link| rows.path(link, row_of)).collect();
        for link in links.links() {
            if row_of(link.one) == row_of(link.other) {
                rows.row(row_of(link.one)).has_arcs = true;
            }
        }
        let spots: BTreeSet<Spot> = rows.paths.iter().flatten().copied().collect();
        for spot in spots {
            if let Spot::Pass { row, .. } = spot {
                rows.row(row).spots.push(spot);
            }
        }
        rows.order();
        rows
    }

    /// From above to below.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    fn row(&mut self, number: u32) -> &mut Row {
        self.rows.entry(number).or_default()
    }

    fn path(&self, link: &Link, row_of: impl Fn(VertexId) -> u32) -> Vec<Spot> {
        let mut ends = [link.one, link.other].map(|it| (row_of(it), it));
        ends.sort_by_key(|(row, _)| *row);
        let [(first, above), (last, to)] = ends;
        let between = self.rows.range(first..last).skip(1);
        let passes = between.map(|(row, _)| Spot::Pass { row: *row, to, class: link.class });
        [Spot::Vertex(above)].into_iter().chain(passes).chain([Spot::Vertex(to)]).collect()
    }

    /// Orders each row by where the neighbours in other rows are, from below to above and back.
    fn order(&mut self) {
        let mut neighbours: BTreeMap<Spot, Vec<Spot>> = BTreeMap::new();
        for path in &self.paths {
            for (upper, lower) in steps(path) {
                neighbours.entry(upper).or_default().push(lower);
                neighbours.entry(lower).or_default().push(upper);
            }
        }
        let numbers: Vec<u32> = self.rows.keys().copied().collect();
        for number in numbers.iter().rev().chain(&numbers).chain(numbers.iter().rev()) {
            let mut at: BTreeMap<Spot, u64> = BTreeMap::new();
            for (_, row) in self.rows.iter().filter(|(row, _)| *row != number) {
                let step = 1_000_000 / (row.spots.len() as u64 + 1);
                at.extend(row.spots.iter().zip(1u64..).map(|(spot, place)| (*spot, place * step)));
            }
            let middle = |spot: &Spot| {
                let near = neighbours.get(spot).into_iter().flatten().filter_map(|it| at.get(it));
                let (sum, count) = near.fold((0, 0), |(sum, count), it| (sum + it, count + 1));
                u64::checked_div(sum, count).unwrap_or(500_000)
            };
            self.row(*number).spots.sort_by_cached_key(|spot| (middle(spot), *spot));
        }
    }
}

/// Each spot of a path with the next one.
pub(crate) fn steps(path: &[Spot]) -> impl Iterator<Item = (Spot, Spot)> {
    path.iter().copied().zip(path.iter().copied().skip(1))
}

/// The first row is the highest.
fn number_of_row(kind: VertexKind) -> u32 {
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
