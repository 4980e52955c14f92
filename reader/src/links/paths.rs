//! Paths between vertices: the widest, the quickest, or the one of the fewest links.
//!
//! Whether a path may go on through a vertex depends on the link by which it came. So a search goes
//! over states: a vertex, the class of the link that leads to it, and whether a GPU has relayed
//! already.

use super::graph::Links;
use super::transit::{Transit, transit};
use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Deref;
use topobroker_layout::links::{LinkClass, VertexId};

/// What makes a path the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The greatest bandwidth, then the fewest links. A path with links of unknown bandwidth is
    /// only taken if there is no other, and such a link limits nothing.
    Bandwidth,
    /// The fewest links of unknown latency, then the least latency.
    Latency,
    /// The fewest links.
    Hops,
}

/// In which direction data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the vertex or rank that is asked about to others.
    Outgoing,
    /// From others to it.
    Incoming,
}

/// A path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkPath {
    /// The bandwidth of its narrowest link in MB/s; `None` if no bandwidth on it is known.
    pub bandwidth: Option<u32>,
    /// Whether it has a link of unknown bandwidth, so that the bandwidth may be less.
    pub has_unknown_bandwidth: bool,
    /// Its latency in nanoseconds; `None` if that of a link is unknown.
    pub latency: Option<u32>,
    /// Number of links.
    pub hops: u16,
}

/// Searches paths in a graph, which it refers to or owns. It has memory of its own: a search takes
/// none, unless the graph has very many ways of different bandwidths.
pub struct Paths<L> {
    links: L,
    may_relay: bool,
    states: Vec<Option<State>>,
    /// States to go on from, with their costs.
    queue: BinaryHeap<Reverse<(Cost, u32)>>,
    /// By vertex: the best path to it.
    found: Vec<Option<LinkPath>>,
    /// By vertex: the state by which that path comes.
    last: Vec<u32>,
    /// By vertex: the bandwidth of the widest path to it.
    widths: Vec<Option<u32>>,
    source: VertexId,
    direction: Direction,
}

/// How a search has come to a state.
#[derive(Debug, Clone, Copy)]
struct State {
    /// The state before; `None` before the first link.
    before: Option<u32>,
    hops: u16,
    /// The least known bandwidth; `u32::MAX` before any.
    bandwidth: u32,
    has_unknown_bandwidth: bool,
    unknown_latencies: u16,
    latency: u32,
    is_done: bool,
}

/// What is compared of two states; the least is best. It never gets less along a path.
type Cost = (u16, u32, u16, bool);

/// What a search is after.
#[derive(Clone, Copy)]
enum Aim {
    /// The greatest bandwidth, whatever the number of links.
    Width,
    /// The best path by a measure; by bandwidth, of links that are wide enough.
    Path(Measure),
}

/// Which links a search takes.
#[derive(Clone, Copy)]
struct Taken {
    least: u32,
    unknown: bool,
}

/// States of a vertex: for each class of links, before a relay and after it.
const EACH: usize = 2 * LinkClass::ALL.len();

impl<'a, L: Deref<Target = Links<'a>>> Paths<L> {
    /// A search in a graph. With `may_relay`, one GPU of a path may forward data between others.
    #[must_use]
    pub fn new(links: L, may_relay: bool) -> Self {
        let count = links.vertices().len();
        Self {
            may_relay,
            states: vec![None; count * EACH],
            // Usually enough: each state is left once by each link.
            queue: BinaryHeap::with_capacity(links.links().len() * 8),
            found: vec![None; count],
            last: vec![0; count],
            widths: vec![None; count],
            source: VertexId(0),
            direction: Direction::Outgoing,
            links,
        }
    }

    /// The graph.
    #[must_use]
    pub fn links(&self) -> &Links<'a> {
        &self.links
    }

    /// The best path from one vertex to another; `None` if there is none, also to itself. Its
    /// vertices are in [`Paths::way`] until the next search.
    pub fn between(&mut self, from: VertexId, to: VertexId, measure: Measure) -> Option<LinkPath> {
        self.direction = Direction::Outgoing;
        self.search(from, Some(to), measure);
        self.found(to)
    }

    /// The best paths from a vertex to each vertex, or from each to it, in the order of their
    /// numbers: `None` for those between which there is none, and for itself.
    pub fn of(
        &mut self,
        vertex: VertexId,
        direction: Direction,
        measure: Measure,
    ) -> &[Option<LinkPath>] {
        self.direction = direction;
        self.search(vertex, None, measure);
        &self.found
    }

    /// The vertices of the path that [`Paths::between`] has found, from its end to its beginning,
    /// both among them. Nothing if there is none.
    pub fn way(&self, to: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        let place = to.index();
        let is_found = self.found.get(place).is_some_and(Option::is_some);
        let last = self.last.get(place).copied().filter(|_| is_found);
        let states = core::iter::successors(last, |state| self.state(*state as usize)?.before);
        let vertices = states.filter_map(|state| VertexId::at(state as usize / EACH));
        vertices.chain(last.map(|_| self.source))
    }

    /// The path to a vertex that the last search has found.
    pub(super) fn found(&self, to: VertexId) -> Option<LinkPath> {
        self.found.get(to.index()).copied().flatten()
    }

    fn search(&mut self, from: VertexId, to: Option<VertexId>, measure: Measure) {
        self.source = from;
        self.found.fill(None);
        if measure != Measure::Bandwidth {
            let all = Taken { least: 0, unknown: true };
            self.spread(from, all, Aim::Path(measure));
            return self.keep(measure, |_| true);
        }
        for unknown in [false, true] {
            self.spread(from, Taken { least: 0, unknown }, Aim::Width);
            self.keep_widths();
            if let Some(to) = to {
                let width = self.widths.get(to.index()).copied().flatten();
                if let Some(least) = width {
                    self.spread(from, Taken { least, unknown }, Aim::Path(measure));
                    self.keep(measure, |vertex| vertex == to.index());
                    // The states are those of this path, for `way`.
                    return;
                }
                continue;
            }
            // The vertices whose widest paths are equally wide have them in one search.
            let mut next = self.widest_open(u32::MAX, true);
            while let Some(least) = next {
                self.spread(from, Taken { least, unknown }, Aim::Path(measure));
                let widths = core::mem::take(&mut self.widths);
                self.keep(measure, |vertex| widths.get(vertex) == Some(&Some(least)));
                self.widths = widths;
                next = self.widest_open(least, false);
            }
        }
    }

    /// The greatest width, below a limit or at it, of a vertex to which no path is known.
    fn widest_open(&self, limit: u32, is_at: bool) -> Option<u32> {
        let open = self.widths.iter().zip(&self.found).filter(|(_, found)| found.is_none());
        let widths = open.filter_map(|(width, _)| *width);
        widths.filter(|width| *width < limit || (is_at && *width == limit)).max()
    }

    /// Finds the best states that are reached from a vertex.
    fn spread(&mut self, from: VertexId, taken: Taken, aim: Aim) {
        self.states.fill(None);
        self.queue.clear();
        for arc in self.links.arcs_of(from) {
            self.follow(None, 0, arc, taken, aim);
        }
        while let Some(Reverse((_, number))) = self.queue.pop() {
            let place = number as usize;
            let Some(Some(state)) = self.states.get_mut(place) else { continue };
            if core::mem::replace(&mut state.is_done, true) {
                continue;
            }
            let (vertex, class, relays) = (place / EACH, place % EACH / 2, place % 2);
            let (Some(kind), Some(class)) =
                (self.links.vertices().get(vertex).map(|it| it.kind), LinkClass::ALL.get(class))
            else {
                continue;
            };
            let Some(vertex) = VertexId::at(vertex) else { continue };
            for arc in self.links.arcs_of(vertex) {
                let Some(next) = self.links.arc(arc) else { continue };
                let relays = match transit(kind, *class, next.class) {
                    Transit::Yes => relays,
                    Transit::Relay if self.may_relay && relays == 0 => 1,
                    _ => continue,
                };
                self.follow(Some(number), relays, arc, taken, aim);
            }
        }
    }

    /// Goes along an arc, if that makes a state better.
    fn follow(&mut self, before: Option<u32>, relays: usize, arc: usize, taken: Taken, aim: Aim) {
        let Some(arc) = self.links.arc(arc) else { return };
        let [away, towards] = arc.bandwidths;
        let bandwidth = match self.direction {
            Direction::Outgoing => away,
            Direction::Incoming => towards,
        };
        if !bandwidth.map_or(taken.unknown, |it| it >= taken.least) || arc.to == self.source {
            return;
        }
        let place = arc.to.index() * EACH + arc.class as usize * 2 + relays;
        let so_far = before.and_then(|before| self.state(before as usize)).copied();
        let next = State::after(so_far.as_ref(), before, bandwidth, arc.latency);
        let (Some(slot), Ok(number)) = (self.states.get_mut(place), u32::try_from(place)) else {
            return;
        };
        let cost = next.cost(aim);
        if slot.is_none_or(|known| cost < known.cost(aim)) {
            *slot = Some(next);
            self.queue.push(Reverse((cost, number)));
        }
    }

    /// Keeps the widths of the widest paths of the last search.
    fn keep_widths(&mut self) {
        for (states, width) in self.states.chunks(EACH).zip(&mut self.widths) {
            *width = states.iter().flatten().map(|state| state.bandwidth).max();
        }
    }

    /// Keeps the best paths of the last search to some vertices to which none is known.
    fn keep(&mut self, measure: Measure, is_wanted: impl Fn(usize) -> bool) {
        let vertices = self.states.chunks(EACH).zip(self.found.iter_mut().zip(&mut self.last));
        for (vertex, (states, (found, last))) in vertices.enumerate() {
            if found.is_some() || !is_wanted(vertex) {
                continue;
            }
            let reached = states.iter().enumerate().filter_map(|(at, state)| Some((at, (*state)?)));
            let best = reached.min_by_key(|(_, state)| state.cost(Aim::Path(measure)));
            if let Some((at, best)) = best {
                *found = Some(best.path());
                *last = u32::try_from(vertex * EACH + at).unwrap_or(0);
            }
        }
    }

    fn state(&self, place: usize) -> Option<&State> {
        self.states.get(place)?.as_ref()
    }
}

impl State {
    /// The state after a link.
    fn after(
        so_far: Option<&Self>,
        before: Option<u32>,
        bandwidth: Option<u32>,
        latency: Option<u32>,
    ) -> Self {
        let start = Self {
            before: None,
            hops: 0,
            bandwidth: u32::MAX,
            has_unknown_bandwidth: false,
            unknown_latencies: 0,
            latency: 0,
            is_done: false,
        };
        let so_far = so_far.copied().unwrap_or(start);
        // A sum that does not fit is unknown.
        let latency = latency.and_then(|it| so_far.latency.checked_add(it));
        Self {
            before,
            hops: so_far.hops.saturating_add(1),
            bandwidth: so_far.bandwidth.min(bandwidth.unwrap_or(u32::MAX)),
            has_unknown_bandwidth: so_far.has_unknown_bandwidth || bandwidth.is_none(),
            unknown_latencies: so_far.unknown_latencies.saturating_add(latency.is_none().into()),
            latency: latency.unwrap_or(so_far.latency),
            is_done: false,
        }
    }

    fn cost(&self, aim: Aim) -> Cost {
        let narrow = u32::MAX - self.bandwidth;
        match aim {
            Aim::Width => (0, narrow, self.hops, false),
            Aim::Path(Measure::Bandwidth) => (self.hops, 0, 0, self.has_unknown_bandwidth),
            Aim::Path(Measure::Latency) => (self.unknown_latencies, self.latency, self.hops, false),
            // The widest of those with as many links.
            Aim::Path(Measure::Hops) => (self.hops, narrow, 0, self.has_unknown_bandwidth),
        }
    }

    fn path(&self) -> LinkPath {
        LinkPath {
            bandwidth: (self.bandwidth != u32::MAX).then_some(self.bandwidth),
            has_unknown_bandwidth: self.has_unknown_bandwidth,
            latency: (self.unknown_latencies == 0).then_some(self.latency),
            hops: self.hops,
        }
    }
}
