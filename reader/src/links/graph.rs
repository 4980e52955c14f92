//! Vertices and links, and which links a vertex has.

use crate::object::Object;
use crate::topology::Topology;
use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::ops::Range;
use topobroker_layout::links::{
    Link, LinkClass, LinkOrigin, MAX_LINKS, MAX_VERTICES, Vertex, VertexId,
};
use topobroker_layout::object_type::ObjectType;

/// Why vertices and links are no graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LinksError {
    /// A link has a vertex that is not there.
    #[error("link {link} has vertex {found}; there are {vertices}")]
    Vertex { link: usize, found: VertexId, vertices: usize },
    /// A link has the same vertex at both ends.
    #[error("link {link} is from vertex {vertex} to itself")]
    ToItself { link: usize, vertex: VertexId },
    /// There are too many vertices or links.
    #[error(
        "{vertices} vertices and {links} links; at most {} and {}",
        Links::MOST_VERTICES,
        Links::MOST_LINKS
    )]
    TooMany { vertices: usize, links: usize },
}

/// The graph of links of a node.
#[derive(Clone)]
pub struct Links<'a> {
    topology: Topology<'a>,
    vertices: Vec<Vertex>,
    links: Vec<Link>,
    /// By vertex: where its arcs begin; and where the last ones end.
    first: Vec<usize>,
    /// For each vertex, its links and the vertices at the other ends.
    arcs: Vec<Arc>,
}

/// A link as one of its vertices sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arc {
    pub(super) to: VertexId,
    pub(super) class: LinkClass,
    /// Away from the vertex, and towards it.
    pub(super) bandwidths: [Option<u32>; 2],
    pub(super) latency: Option<u32>,
}

impl<'a> Links<'a> {
    /// The greatest number of vertices.
    pub const MOST_VERTICES: usize = MAX_VERTICES;
    /// The greatest number of links.
    pub const MOST_LINKS: usize = MAX_LINKS;

    /// A graph of these vertices, of objects of a topology, and links. [`Topology::links`] makes
    /// that of a node.
    ///
    /// # Errors
    ///
    /// [`LinksError`].
    pub fn new(
        topology: Topology<'a>,
        vertices: Vec<Vertex>,
        links: Vec<Link>,
    ) -> Result<Self, LinksError> {
        let count = vertices.len();
        if count > Self::MOST_VERTICES || links.len() > Self::MOST_LINKS {
            return Err(LinksError::TooMany { vertices: count, links: links.len() });
        }
        for (number, link) in links.iter().enumerate() {
            let is_out = |vertex: &VertexId| vertex.index() >= count;
            if let Some(found) = [link.one, link.other].into_iter().find(is_out) {
                return Err(LinksError::Vertex { link: number, found, vertices: count });
            }
            if link.one == link.other {
                return Err(LinksError::ToItself { link: number, vertex: link.one });
            }
        }
        // How many arcs each vertex has, then where they begin, then where the next one goes.
        let mut first = vec![0; count + 1];
        let ends = || links.iter().flat_map(|link| [*link, link.reversed()]);
        for link in ends() {
            first.get_mut(link.one.index() + 1).into_iter().for_each(|count| *count += 1);
        }
        let mut end = 0;
        for begin in &mut first {
            end += *begin;
            *begin = end;
        }
        let mut next = first.clone();
        let none = Link::between(VertexId(0), VertexId(0), LinkClass::Loc, LinkOrigin::Assumed);
        let mut arcs = vec![Arc::of(&none); links.len() * 2];
        for link in ends() {
            let Some(place) = next.get_mut(link.one.index()) else { continue };
            arcs.get_mut(*place).into_iter().for_each(|arc| *arc = Arc::of(&link));
            *place += 1;
        }
        Ok(Self { topology, vertices, links, first, arcs })
    }

    /// The topology that the graph is of.
    #[must_use]
    pub fn topology(&self) -> Topology<'a> {
        self.topology
    }

    /// The vertices, in the order of their ids.
    #[must_use]
    pub fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// The ids of all vertices.
    pub fn vertex_ids(&self) -> impl DoubleEndedIterator<Item = VertexId> + use<> {
        (0..self.vertices.len()).filter_map(VertexId::at)
    }

    /// A vertex; `None` if the graph has fewer.
    #[must_use]
    pub fn vertex(&self, vertex: VertexId) -> Option<&Vertex> {
        self.vertices.get(vertex.index())
    }

    /// The links.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The object of a vertex.
    #[must_use]
    pub fn object(&self, vertex: VertexId) -> Option<Object<'a>> {
        self.topology.object(self.vertex(vertex)?.object?)
    }

    /// Name of a vertex: that of the OS device or the name that was declared, otherwise the PCI bus
    /// id, otherwise type and logical index as hwloc-calc has them: `package:0`.
    #[must_use]
    pub fn name(&self, vertex: VertexId) -> Cow<'_, str> {
        let Some(found) = self.vertex(vertex) else { return "".into() };
        match (&found.name, self.object(vertex)) {
            (Some(name), _) => name.as_ref().into(),
            (None, Some(object)) => name_of(object),
            (None, None) => "".into(),
        }
    }

    /// The vertex with a name as [`Links::name`] has it, or with an OS device or PCI bus id that it
    /// is too; case does not matter.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<VertexId> {
        let is_named = |vertex: &VertexId| self.name(*vertex).eq_ignore_ascii_case(name);
        let object = || {
            let device = self.topology.os_device(name);
            device.or_else(|| self.topology.pci_device_by_bus_id(name))
        };
        self.vertex_ids().find(is_named).or_else(|| self.vertex_of(object()?))
    }

    /// The vertex of an object, or of the PCI device that it is a part of.
    #[must_use]
    pub fn vertex_of(&self, object: Object<'_>) -> Option<VertexId> {
        let is_it =
            |vertex: &VertexId| self.vertex(*vertex).and_then(|it| it.object) == Some(object.id());
        let is_of_device =
            |vertex: &VertexId| self.object(*vertex).is_some_and(|own| is_same_device(own, object));
        self.vertex_ids().find(is_it).or_else(|| self.vertex_ids().find(is_of_device))
    }

    /// Numbers of the arcs of a vertex.
    pub(super) fn arcs_of(&self, vertex: VertexId) -> Range<usize> {
        let at = |vertex: usize| self.first.get(vertex).copied().unwrap_or(0);
        at(vertex.index())..at(vertex.index() + 1)
    }

    /// The arc with a number.
    pub(super) fn arc(&self, number: usize) -> Option<Arc> {
        self.arcs.get(number).copied()
    }
}

impl fmt::Debug for Links<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { vertices, links, .. } = self;
        f.debug_struct("Links").field("vertices", vertices).field("links", links).finish()
    }
}

impl Arc {
    /// A link as the vertex at its beginning sees it.
    fn of(link: &Link) -> Self {
        let bandwidths = [link.forward, link.backward];
        Self { to: link.other, class: link.class, bandwidths, latency: link.latency }
    }
}

fn name_of(object: Object<'_>) -> Cow<'_, str> {
    if object.object_type() == ObjectType::OSDevice {
        return object.name().unwrap_or_default().into();
    }
    if let Some(pci) = object.pci_attributes() {
        return pci.bus_id().to_string().into();
    }
    let mut name = object.type_name(false).to_ascii_lowercase();
    // Writing to a string cannot fail.
    let _ = write!(name, ":{}", object.logical_index());
    name.into()
}

/// Whether two objects are of one PCI device.
fn is_same_device(one: Object<'_>, other: Object<'_>) -> bool {
    let pci = |it: Object<'_>| match it.object_type() {
        ObjectType::PCIDevice => Some(it.id()),
        _ => it.pci_device_above().map(Object::id),
    };
    pci(one).is_some() && pci(one) == pci(other)
}
