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
    AdoptLinksError, DeclaredLinks, Link, Links, Paths, SwitchModel, VertexId,
};

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
/// and disks, as hwloc and links that the administrator declared say. With `separate_switches`,
/// each NVSwitch is a switch of its own; otherwise all are one. With `may_relay`, one GPU of a path
/// may forward data between two others. Free it with tb_links_free.
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
        let declared = match DeclaredLinks::find(adopted) {
            Err(AdoptLinksError::OtherBase { .. }) => None,
            declared => declared?,
        };
        let graph = match declared {
            Some(declared) => adopted.topology().links_with_declared(switches, declared)?,
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
        vertices.store(graph.vertices().len());
        link_count.store(graph.links().len());
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
        kind.store(found.kind as i32);
        object.store(found.object.unwrap_or(TB_OBJ_NONE));
        Ok(())
    })
}

/// Writes the name of a vertex with a zero at its end: that of its OS device, otherwise its PCI bus
/// id, otherwise its type and logical index, such as package:0. TB_ERR_NOT_FOUND after the last
/// vertex. `length` (may be NULL) is set to the bytes of the text without the zero, also with
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
        link_class: link.class as i32,
        origin: link.origin as i32,
        links: link.links.unwrap_or(0),
        forward: known(link.forward),
        backward: known(link.backward),
        latency: known(link.latency),
    }
}
