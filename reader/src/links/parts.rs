//! The parts of a graph of links that is being made.

use super::graph::{Links, LinksError};
use crate::object::Object;
use crate::topology::Topology;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use topobroker_layout::links::{Link, LinkClass, LinkOrigin, Vertex, VertexId, VertexKind};
use topobroker_layout::object_type::ObjectType;

/// How switches of links between GPUs are connected with each other: hwloc does not report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SwitchModel {
    /// All of a node are one switch, as in every machine with switches that is sold.
    #[default]
    One,
    /// Each is a switch of its own, connected with what hwloc says.
    Separate,
}

/// The parts of a graph that is being made.
pub(super) struct Parts<'a> {
    pub(super) topology: Topology<'a>,
    pub(super) vertices: Vec<Vertex>,
    pub(super) links: Vec<Link>,
    /// Vertices of objects: the number of the object, and that of the vertex.
    known: Vec<(u32, VertexId)>,
}

/// The greatest number of packages that each have a link to each other one.
const MOST_IN_A_MESH: usize = 32;

impl<'a> Parts<'a> {
    /// The vertices of packages, and links between them.
    pub(super) fn new(topology: Topology<'a>) -> Self {
        let mut parts =
            Self { topology, vertices: Vec::new(), links: Vec::new(), known: Vec::new() };
        parts.add_packages();
        parts
    }

    /// The graph of the parts.
    pub(super) fn finish(self) -> Result<Links<'a>, LinksError> {
        Links::new(self.topology, self.vertices, self.links)
    }

    /// Adds links, in the place of those of the same classes between the same vertices. What a link
    /// does not report stays as it was known.
    pub(super) fn declare(&mut self, declared: Vec<Link>) {
        let key = |link: &Link| (link.class, link.one.min(link.other), link.one.max(link.other));
        let keys: BTreeSet<_> = declared.iter().map(key).collect();
        let (replaced, kept) =
            core::mem::take(&mut self.links).into_iter().partition(|it| keys.contains(&key(it)));
        let replaced: Vec<Link> = replaced;
        self.links = kept;
        let first = self.links.len();
        declared
            .into_iter()
            .filter(|link| link.one != link.other)
            .for_each(|link| self.add_link(link));
        for link in self.links.iter_mut().skip(first) {
            let mut known = replaced.iter().filter(|it| link.is_parallel_to(it));
            let (Some(known), None) = (known.next(), known.next()) else { continue };
            let known = link.along(known);
            link.links = link.links.or(known.links);
            link.forward = link.forward.or(known.forward);
            link.backward = link.backward.or(known.backward);
            link.latency = link.latency.or(known.latency);
        }
    }

    /// Adds a link. Those of a vertex that stands for several switches are added up.
    pub(super) fn add_link(&mut self, link: Link) {
        let merges = [link.one, link.other].iter().any(|vertex| self.is_merged(*vertex));
        match self.links.iter_mut().find(|it| merges && it.is_parallel_to(&link)) {
            Some(known) => known.take_in(&link),
            None => self.links.push(link),
        }
    }

    /// Whether a vertex stands for several switches.
    pub(super) fn is_merged(&self, vertex: VertexId) -> bool {
        self.vertices.get(vertex.index()).is_some_and(is_all_switches)
    }

    /// Adds a vertex for each package, and links between them.
    fn add_packages(&mut self) {
        let packages: Vec<Object<'a>> =
            self.topology.objects_with_type(ObjectType::Package).collect();
        let vertices: Vec<VertexId> =
            packages.iter().map(|it| self.vertex(VertexKind::Mesh, *it)).collect();
        if vertices.len() > MOST_IN_A_MESH {
            let middle = self.vertex(VertexKind::Mesh, self.topology.root());
            for package in vertices {
                self.link(package, middle, LinkClass::Smp, LinkOrigin::Assumed);
            }
            return;
        }
        for (place, one) in vertices.iter().enumerate() {
            for other in vertices.iter().skip(place + 1) {
                self.link(*one, *other, LinkClass::Smp, LinkOrigin::Assumed);
            }
        }
    }

    /// The vertex of an object.
    pub(super) fn known(&self, object: Object<'_>) -> Option<VertexId> {
        self.known.iter().find(|(id, _)| *id == object.id()).map(|(_, vertex)| *vertex)
    }

    /// The vertex of an object, made if there is none.
    pub(super) fn vertex(&mut self, kind: VertexKind, object: Object<'_>) -> VertexId {
        self.known(object).unwrap_or_else(|| {
            self.vertices.push(Vertex { kind, object: Some(object.id()), name: None });
            let vertex = Self::vertex_at(self.vertices.len() - 1);
            self.known.push((object.id(), vertex));
            vertex
        })
    }

    /// The vertex of a switch between GPUs, made if there is none.
    pub(super) fn switch(&mut self, switches: SwitchModel, object: Object<'_>) -> VertexId {
        if switches == SwitchModel::Separate {
            return self.vertex(VertexKind::NvSwitch, object);
        }
        let place = self.vertices.iter().position(is_all_switches).unwrap_or_else(|| {
            let name = Some(Vertex::ALL_SWITCHES.into());
            self.vertices.push(Vertex { kind: VertexKind::NvSwitch, object: None, name });
            self.vertices.len() - 1
        });
        let vertex = Self::vertex_at(place);
        self.also(object, vertex);
        vertex
    }

    /// The vertex at a place. Beyond the greatest number of vertices, which is refused in the end,
    /// it is the last.
    fn vertex_at(place: usize) -> VertexId {
        VertexId::at(place).unwrap_or(VertexId(u16::MAX))
    }

    /// Lets another object of a device have the same vertex.
    pub(super) fn also(&mut self, object: Object<'_>, vertex: VertexId) {
        self.known.push((object.id(), vertex));
    }

    /// The vertex of the CPUs of an object in the tree of CPUs, made if there is none. It is linked
    /// with the package that it is a part of, or with those that it consists of.
    pub(super) fn cpus(&mut self, object: Object<'a>) -> VertexId {
        let found = self.known(object);
        let vertex = self.vertex(VertexKind::Cpu, object);
        if let Some(it) = self.vertices.get_mut(vertex.index()) {
            it.kind = VertexKind::Cpu;
        }
        if found.is_some() {
            return vertex;
        }
        let package = object.ancestor_with_type(ObjectType::Package);
        let packages = match package {
            Some(package) => Vec::from([package]),
            None => {
                let all = self.topology.objects_with_type(ObjectType::Package);
                all.filter(|it| it.is_in_subtree(object)).collect()
            }
        };
        if packages.is_empty() && object != self.topology.root() {
            let middle = self.cpus_of_root();
            self.link(vertex, middle, LinkClass::Smp, LinkOrigin::Assumed);
        }
        for package in packages {
            if let Some(package) = self.known(package) {
                self.link(vertex, package, LinkClass::Cpu, LinkOrigin::Assumed);
            }
        }
        vertex
    }

    /// The vertex of all CPUs, made if there is none, with links to all packages.
    fn cpus_of_root(&mut self) -> VertexId {
        let root = self.topology.root();
        if let Some(known) = self.known(root) {
            return known;
        }
        let middle = self.vertex(VertexKind::Mesh, root);
        for package in self.topology.objects_with_type(ObjectType::Package) {
            if let Some(package) = self.known(package) {
                self.link(middle, package, LinkClass::Smp, LinkOrigin::Assumed);
            }
        }
        middle
    }

    /// Whether there are more vertices or links than a graph has.
    pub(super) fn is_full(&self) -> bool {
        self.vertices.len() > Links::MOST_VERTICES || self.links.len() > Links::MOST_LINKS
    }

    /// Adds a link of which nothing is known but what it is.
    pub(super) fn link(
        &mut self,
        one: VertexId,
        other: VertexId,
        class: LinkClass,
        origin: LinkOrigin,
    ) -> Option<&mut Link> {
        if one == other {
            return None;
        }
        self.links.push(Link::between(one, other, class, origin));
        self.links.last_mut()
    }
}

fn is_all_switches(vertex: &Vertex) -> bool {
    vertex.kind == VertexKind::NvSwitch && vertex.object.is_none()
}
