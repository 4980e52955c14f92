//! Vertices of the graph of links, and links.

use super::kinds::{LinkClass, LinkOrigin, VertexKind};
use alloc::boxed::Box;
use core::fmt;

/// Which vertex of a graph: its place in the list of vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VertexId(pub u16);

/// A vertex of the graph of links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vertex {
    /// What it is.
    pub kind: VertexKind,
    /// Number of its object in the topology; `None` if hwloc has none for it.
    pub object: Option<u32>,
    /// Name of a vertex without an object.
    pub name: Option<Box<str>>,
}

/// A link between two vertices. Bandwidths are in MB/s (10^6 bytes) in one direction, `None` if
/// unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// A vertex.
    pub one: VertexId,
    /// Another vertex.
    pub other: VertexId,
    /// What it is.
    pub class: LinkClass,
    /// Where its values are from.
    pub origin: LinkOrigin,
    /// Number of parallel links that this one stands for, `None` if unknown.
    pub links: Option<u16>,
    /// Bandwidth from `one` to `other`, of all parallel links together.
    pub forward: Option<u32>,
    /// Bandwidth from `other` to `one`.
    pub backward: Option<u32>,
    /// Latency in nanoseconds, `None` if unknown.
    pub latency: Option<u32>,
}

impl VertexId {
    /// The place in the list of vertices.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// The vertex at a place; `None` if no graph has as many.
    #[must_use]
    pub fn at(index: usize) -> Option<Self> {
        u16::try_from(index).ok().map(Self)
    }
}

impl fmt::Display for VertexId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Vertex {
    /// Name of the vertex that stands for all switches between GPUs of a node.
    pub const ALL_SWITCHES: &'static str = "NVSwitch";
}

impl Link {
    /// A link of which nothing is known but what it is.
    #[must_use]
    pub fn between(one: VertexId, other: VertexId, class: LinkClass, origin: LinkOrigin) -> Self {
        Self {
            one,
            other,
            class,
            origin,
            links: None,
            forward: None,
            backward: None,
            latency: None,
        }
    }

    /// Whether another link is of the same class and between the same vertices.
    #[must_use]
    pub fn is_parallel_to(&self, other: &Self) -> bool {
        let ends = [(other.one, other.other), (other.other, other.one)];
        self.class == other.class && ends.contains(&(self.one, self.other))
    }

    /// The other link in the direction of this one.
    #[must_use]
    pub fn along(&self, other: &Self) -> Self {
        if other.one == self.one { *other } else { other.reversed() }
    }

    /// Takes in a parallel link: bandwidths and numbers of links add up, and are unknown if one is.
    pub fn take_in(&mut self, parallel: &Self) {
        let more = self.along(parallel);
        let sum = |one: Option<u32>, other: Option<u32>| {
            one?.checked_add(other?).filter(|sum| *sum < u32::MAX)
        };
        self.forward = sum(self.forward, more.forward);
        self.backward = sum(self.backward, more.backward);
        self.links = self.links.zip(more.links).and_then(|(one, other)| one.checked_add(other));
    }

    /// The same link from its other end.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            one: self.other,
            other: self.one,
            forward: self.backward,
            backward: self.forward,
            ..*self
        }
    }
}
