//! The graph of links.

use crate::answer::{answer, means_itself};
use crate::call::call;
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::object::{TB_OBJ_NONE, tb_obj};
use crate::pointers::{Buffer, Out, Text};
use crate::status::tb_status;
use crate::structs::Struct;
use crate::topology::tb_topology;
use alloc::boxed::Box;
use alloc::format;
use topobroker_reader::links::{
    AdoptLinksError, Link, LinkClass, LinkOrigin, Links, Paths, SwitchModel, ToldLinks, VertexId,
    VertexKind,
};

/// What a vertex of the graph of links is.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_vertex_kind {
    /// CPUs that memory or devices hang on.
    TB_VERTEX_CPU = 0,
    /// What connects the CPUs of a package, or packages.
    TB_VERTEX_MESH = 1,
    /// A NUMA node, or the memory of a GPU.
    TB_VERTEX_MEMORY = 2,
    /// A host bridge.
    TB_VERTEX_HOST_BRIDGE = 3,
    /// A PCI switch.
    TB_VERTEX_PCI_SWITCH = 4,
    /// A GPU, or a part of one that programs see as a GPU.
    TB_VERTEX_GPU = 5,
    /// A NIC.
    TB_VERTEX_NIC = 6,
    /// A disk.
    TB_VERTEX_BLOCK = 7,
    /// A switch of links between GPUs.
    TB_VERTEX_NVSWITCH = 8,
    /// A switch of the network.
    TB_VERTEX_NET_SWITCH = 9,
    /// Something on another node.
    TB_VERTEX_REMOTE = 10,
}

/// What a link is.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_link_class {
    /// Within one device.
    TB_LINK_LOC = 0,
    /// To memory.
    TB_LINK_MEM = 1,
    /// Within a package, or from it to a host bridge.
    TB_LINK_CPU = 2,
    /// Between packages.
    TB_LINK_SMP = 3,
    /// PCI.
    TB_LINK_PCI = 4,
    /// NVLink.
    TB_LINK_NVLINK = 5,
    /// XGMI.
    TB_LINK_XGMI = 6,
    /// NVIDIA's between a CPU and a GPU in one package.
    TB_LINK_C2C = 7,
    /// Xe Link.
    TB_LINK_XELINK = 8,
    /// A network.
    TB_LINK_FABRIC = 9,
}

/// Where the values of a link are from.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_link_origin {
    /// hwloc reports the link.
    TB_LINK_REPORTED = 0,
    /// The speed that the link had when the topology was published.
    TB_LINK_CURRENT = 1,
    /// The greatest speed of both ends.
    TB_LINK_MAXIMUM = 2,
    /// Follows from how such machines are built.
    TB_LINK_ASSUMED = 3,
    /// The administrator told it.
    TB_LINK_TOLD = 4,
    /// Was measured.
    TB_LINK_MEASURED = 5,
}

/// A link between two vertices.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_link {
    /// Number of a vertex.
    pub one: u16,
    /// Number of another vertex.
    pub other: u16,
    /// A tb_link_class.
    pub link_class: i32,
    /// A tb_link_origin.
    pub origin: i32,
    /// Number of parallel links that this one stands for; 0 if unknown.
    pub links: u16,
    /// Bandwidth from `one` to `other` in MB/s; -1 if unknown.
    pub forward: i64,
    /// Bandwidth from `other` to `one`.
    pub backward: i64,
    /// Latency in nanoseconds; -1 if unknown.
    pub latency: i64,
}

/// The graph of links of a topology, with memory for searches in it. Free it with tb_links_free.
pub struct tb_links {
    pub(crate) paths: Paths<Box<Links<'static>>>,
}

means_itself!(tb_links);

/// Makes the graph of links of the whole adopted topology: what connects CPUs, memory, GPUs, NICs
/// and disks, as hwloc and links that the administrator told say. With `separate_switches`, each
/// NVSwitch is a switch of its own; otherwise all are one. With `may_relay`, one GPU of a path may
/// forward data between two others. Free it with tb_links_free.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_new(
    topology: Option<&tb_topology>,
    separate_switches: bool,
    may_relay: bool,
    links: Out<'_, Box<tb_links>>,
) -> tb_status {
    call(|| {
        let (adopted, out) = (topology.given("topology")?.adopted()?, links.given("links")?);
        let switches = if separate_switches { SwitchModel::Separate } else { SwitchModel::One };
        // Links of an earlier topology do not take the graph of this one away.
        let told = match ToldLinks::find(adopted) {
            Err(AdoptLinksError::OtherBase { .. }) => None,
            told => told?,
        };
        let graph = match told {
            Some(told) => adopted.topology().links_with_told(switches, told)?,
            None => adopted.topology().links(switches)?,
        };
        let paths = Paths::new(Box::new(graph), may_relay);
        out.write(Box::new(tb_links { paths }));
        Ok(())
    })
}

/// Frees a graph of links. If `links` is NULL, nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_free(links: Option<Box<tb_links>>) {
    drop(links);
}

/// Stores the numbers of vertices and of links. Each of the two may be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_size(
    links: Option<&tb_links>,
    vertices: Out<'_, usize>,
    link_count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let graph = links.given("links")?.paths.links();
        if let Some(vertices) = vertices.optional() {
            vertices.write(graph.vertices().len());
        }
        if let Some(link_count) = link_count.optional() {
            link_count.write(graph.links().len());
        }
        Ok(())
    })
}

/// Stores the kind of a vertex, a tb_vertex_kind, and its object, TB_OBJ_NONE if it has none. Each
/// of the two may be NULL. TB_ERR_NOT_FOUND after the last vertex.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_vertex(
    links: Option<&tb_links>,
    vertex: u16,
    kind: Out<'_, i32>,
    object: Out<'_, tb_obj>,
) -> tb_status {
    call(|| {
        let graph = links.given("links")?.paths.links();
        let found = graph.vertex(VertexId(vertex)).found(|| format!("no vertex {vertex}"))?;
        if let Some(kind) = kind.optional() {
            kind.write(place(&VertexKind::ALL, found.kind));
        }
        if let Some(object) = object.optional() {
            object.write(found.object.unwrap_or(TB_OBJ_NONE));
        }
        Ok(())
    })
}

/// Writes the name of a vertex with a zero at its end: that of its OS device, else its PCI bus id,
/// else its type and logical index, such as package:0. TB_ERR_NOT_FOUND after the last vertex.
/// `length` (may be NULL) is set to the bytes of the text without the zero, also with
/// TB_ERR_TRUNCATED.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_name(
    links: Option<&tb_links>,
    vertex: u16,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |links| {
        let graph = links.paths.links();
        graph.vertex(VertexId(vertex)).found(|| format!("no vertex {vertex}"))?;
        graph.name(VertexId(vertex))
    })
}

/// Stores the vertex with a name as tb_links_name has it, or with an OS device or PCI bus id that
/// it is too. TB_ERR_NOT_FOUND if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_find(
    links: Option<&tb_links>,
    name: Text<'_>,
    vertex: Out<'_, u16>,
) -> tb_status {
    answer!(vertex, |links, name| {
        let found = links.paths.links().find(name);
        found.found(|| format!("{name} is no vertex of the graph of links"))?.0
    })
}

/// Stores a link by its number. TB_ERR_NOT_FOUND after the last.
#[unsafe(no_mangle)]
pub extern "C" fn tb_links_link(
    links: Option<&tb_links>,
    number: usize,
    link: Struct<'_, tb_link>,
    link_size: usize,
) -> tb_status {
    answer!(link(link_size), |links| {
        let all = links.paths.links().links();
        let found = all.get(number).found(|| format!("no link {number}"))?;
        link_of(found)
    })
}

pub(crate) fn in_graph(links: &tb_links, vertex: u16) -> Result<VertexId, Failure> {
    let count = links.paths.links().vertices().len();
    match usize::from(vertex) < count {
        true => Ok(VertexId(vertex)),
        false => Err(Failure::argument(format_args!("vertex {vertex}; there are {count}"))),
    }
}

pub(crate) fn known(value: Option<u32>) -> i64 {
    value.map_or(-1, i64::from)
}

fn link_of(link: &Link) -> tb_link {
    tb_link {
        one: link.one.0,
        other: link.other.0,
        link_class: place(&LinkClass::ALL, link.class),
        origin: place(&LinkOrigin::ALL, link.origin),
        links: link.links.unwrap_or(0),
        forward: known(link.forward),
        backward: known(link.backward),
        latency: known(link.latency),
    }
}

/// The number of a value in C: the enums of C have those of Rust in the same order.
fn place<T: PartialEq>(all: &[T], value: T) -> i32 {
    let place = all.iter().position(|it| *it == value);
    place.and_then(|it| i32::try_from(it).ok()).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_c_are_the_places_of_rust() {
        let kinds = [
            (VertexKind::Cpu, tb_vertex_kind::TB_VERTEX_CPU as i32),
            (VertexKind::Gpu, tb_vertex_kind::TB_VERTEX_GPU as i32),
            (VertexKind::NvSwitch, tb_vertex_kind::TB_VERTEX_NVSWITCH as i32),
            (VertexKind::Remote, tb_vertex_kind::TB_VERTEX_REMOTE as i32),
        ];
        assert!(kinds.iter().all(|(kind, number)| place(&VertexKind::ALL, *kind) == *number));
        let classes = [
            (LinkClass::Loc, tb_link_class::TB_LINK_LOC as i32),
            (LinkClass::Pci, tb_link_class::TB_LINK_PCI as i32),
            (LinkClass::C2c, tb_link_class::TB_LINK_C2C as i32),
            (LinkClass::Fabric, tb_link_class::TB_LINK_FABRIC as i32),
        ];
        assert!(classes.iter().all(|(class, number)| place(&LinkClass::ALL, *class) == *number));
        let origins = [
            (LinkOrigin::Reported, tb_link_origin::TB_LINK_REPORTED as i32),
            (LinkOrigin::Assumed, tb_link_origin::TB_LINK_ASSUMED as i32),
            (LinkOrigin::Measured, tb_link_origin::TB_LINK_MEASURED as i32),
        ];
        assert!(origins.iter().all(|(origin, number)| place(&LinkOrigin::ALL, *origin) == *number));
    }
}
