//! What a text adds to the links that are known, and why it cannot.

use super::nccl_read::NcclReadError;
use topobroker_layout::attributes::Attributes;
use topobroker_reader::Object;
use topobroker_reader::links::{
    Link, LinkClass, LinkOrigin, Links, LinksError, Vertex, VertexId, VertexKind, nvlink_bandwidth,
};

/// Why a text declares no links.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LinksReadError {
    /// It is no file of NCCL.
    #[error(transparent)]
    Nccl(#[from] NcclReadError),
    /// It is no JSON.
    #[error("no JSON")]
    Json(#[from] serde_json::Error),
    /// A PCI device is not in the topology.
    #[error("{bus_id}: the topology has no such PCI device; expected one of this machine")]
    Device { bus_id: String },
    /// The text is in no known form.
    #[error(
        "is no form of links that is known; expected the JSON of `topobroker links --of json`, a \
         file of NCCL or RCCL, or the table of `nvidia-smi topo -m`"
    )]
    Form,
    /// A table has a GPU that the topology lacks.
    #[error("{name}: the topology has {found} GPUs, from GPU0")]
    Gpus { name: String, found: usize },
    /// A table has no links.
    #[error("no links; expected NV, XGMI or XE with a number in a row of a GPU")]
    NoLinksInTable,
    /// A table has a wrong cell.
    #[error("line {line}, column {column}: {cell:?}; expected {expected}")]
    Cell { line: usize, column: usize, cell: String, expected: &'static str },
    /// The JSON has no edges.
    #[error("no edges; expected node-link data with a list of \"edges\"")]
    NoEdges,
    /// The file of NCCL has no links.
    #[error(
        "no links; expected nvlink, xgmi or c2c elements; a PCI tree alone is for `topobroker \
         publish --pci-tree`"
    )]
    NoLinks,
    /// The file of NCCL has several hosts, and it is not known which of them this one is.
    #[error(
        "the file has {hosts} hosts, of which {fitting} have only devices of this machine; \
         expected one: keep its cpu elements alone"
    )]
    Hosts { hosts: usize, fitting: usize },
    /// An edge of the JSON has a wrong field.
    #[error("edge {edge}: {field} is {found}; expected {expected}")]
    Field { edge: usize, field: &'static str, found: String, expected: &'static str },
    /// The vertices and links are no graph.
    #[error(transparent)]
    Graph(#[from] LinksError),
}

/// What the text adds to the links that are known.
pub(super) struct NewLinks<'k, 't> {
    pub(super) known: &'k Links<'t>,
    pub(super) vertices: Vec<Vertex>,
    pub(super) links: Vec<Link>,
    pub(super) notes: Vec<String>,
}

impl<'t> NewLinks<'_, 't> {
    /// Adds a link, unless it is there from its other end: files and tables have each twice. `each`
    /// is the bandwidth of one, where the class does not say it.
    pub(super) fn link(
        &mut self,
        one: VertexId,
        other: VertexId,
        class: LinkClass,
        count: Option<u16>,
        each: Option<u32>,
    ) {
        if self.links.iter().any(|it| (it.class, it.one, it.other) == (class, other, one)) {
            return;
        }
        let gpu = self.vertices.get(usize::from(one.0)).and_then(|it| it.object);
        let gpu = gpu.and_then(|id| self.known.topology().object(id));
        let each = match (class, gpu.map(Object::attributes)) {
            (LinkClass::NvLink, Some(Attributes::Pci(pci))) => {
                Some(nvlink_bandwidth(pci.device_id))
            }
            _ => each,
        };
        let both = each.zip(count);
        let both = both.map(|(each, count)| each.saturating_mul(count.into()).min(u32::MAX - 1));
        self.links.push(Link {
            links: count,
            forward: both,
            backward: both,
            ..Link::between(one, other, class, LinkOrigin::Declared)
        });
    }

    pub(super) fn device(&self, bus_id: &str) -> Option<Object<'t>> {
        self.known.topology().pci_device_by_bus_id(bus_id)
    }

    /// The vertex of an object, or of the vertex of the graph that it is a part of.
    pub(super) fn vertex(&mut self, kind: VertexKind, object: Object<'t>) -> VertexId {
        let known = self.known.vertex_of(object);
        let known = known.and_then(|it| self.known.vertex(it).cloned());
        let own = Vertex { kind, object: Some(object.id()), name: None };
        // A switch that is known as all switches of the node has no object.
        self.add(known.unwrap_or(own))
    }

    pub(super) fn add(&mut self, vertex: Vertex) -> VertexId {
        let place = self.vertices.iter().position(|it| *it == vertex).unwrap_or_else(|| {
            self.vertices.push(vertex);
            self.vertices.len() - 1
        });
        VertexId::at(place).unwrap_or(VertexId(u16::MAX))
    }
}
