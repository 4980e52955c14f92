//! Links that an administrator tells: as the JSON that `topobroker links --of json` prints, or as a
//! file of NCCL or RCCL.

use super::nccl_read::{NcclFile, NcclLink, NcclReadError};
use serde_json::Value;
use std::collections::BTreeSet;
use topobroker_layout::attributes::Attributes;
use topobroker_reader::links::nvlink_bandwidth;
use topobroker_reader::{
    Object,
    links::{Link, LinkClass, LinkOrigin, Links, LinksError, Vertex, VertexId, VertexKind},
};

/// Why a text tells no links.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ToldError {
    /// It is no file of NCCL.
    #[error(transparent)]
    Nccl(#[from] NcclReadError),
    /// It is no JSON.
    #[error("no JSON")]
    Json(#[from] serde_json::Error),
    /// A PCI device is not in the topology.
    #[error("{bus_id}: the topology has no such PCI device; expected one of this machine")]
    Device { bus_id: String },
    /// A GPU has a link to itself.
    #[error("{bus_id}: has a link to itself; expected one to another device")]
    Itself { bus_id: String },
    /// The JSON has no edges.
    #[error("no edges; expected node-link data with a list of \"edges\"")]
    NoEdges,
    /// The file of NCCL has no links.
    #[error(
        "no links; expected nvlink, xgmi or c2c elements; a PCI tree alone is for `topobroker publish --pci-tree`"
    )]
    NoLinks,
    /// The file of NCCL has several hosts, and it cannot be told which of them this one is.
    #[error(
        "the file has {hosts} hosts, of which {fitting} have only devices of this machine; expected one: keep its cpu elements alone"
    )]
    Hosts { hosts: usize, fitting: usize },
    /// An edge of the JSON has a wrong field.
    #[error("edge {edge}: {field} is {found}; expected {expected}")]
    Field { edge: usize, field: &'static str, found: String, expected: &'static str },
    /// The vertices and links are no graph.
    #[error(transparent)]
    Graph(#[from] LinksError),
}

/// Reads links of the topology of a graph. `known` is the graph, by whose vertices JSON names
/// the ends of links; with [`SwitchModel::Separate`], so that links to different switches stay
/// apart.
///
/// [`SwitchModel::Separate`]: topobroker_reader::links::SwitchModel::Separate
///
/// # Errors
///
/// [`ToldError`].
pub fn told<'a>(known: &Links<'a>, text: &str) -> Result<Links<'a>, ToldError> {
    let mut told = NewLinks { known, vertices: Vec::new(), links: Vec::new() };
    match text.trim_start().starts_with('<') {
        true => {
            let mut file = NcclFile::read(text)?;
            told.keep_own_host(&mut file)?;
            // A file of another machine has other devices.
            for device in file.ends().filter(|device| !device.bus_id.is_empty()) {
                told.device(&device.bus_id)?;
            }
            if file.links.is_empty() {
                return Err(ToldError::NoLinks);
            }
            file.links.iter().try_for_each(|link| told.nccl(&file, link))?;
        }
        false => told.json(&serde_json::from_str(text)?)?,
    }
    Ok(Links::new(known.topology(), told.vertices, told.links)?)
}

/// Whether a PCI class in 24 bits is that of a switch between GPUs: a bridge of no standard kind.
fn is_bridge(class: &str) -> bool {
    class.trim_start_matches("0x").starts_with("0680")
}

/// The domain of the bus id that NCCL gives to a switch that it does not see: `fffffff:ffff:ff`, or
/// `fffffff:ff:ff.0`.
const HIDDEN_DOMAIN: &str = "fffffff:";

/// What the text adds to the links that are known.
struct NewLinks<'k, 't> {
    known: &'k Links<'t>,
    vertices: Vec<Vertex>,
    links: Vec<Link>,
}

impl<'t> NewLinks<'_, 't> {
    fn nccl(&mut self, file: &NcclFile, link: &NcclLink) -> Result<(), ToldError> {
        let Some(device) = file.devices.get(link.gpu) else { return Ok(()) };
        let gpu = self.device(&device.bus_id)?;
        let class = match link.element.as_str() {
            "nvlink" => LinkClass::NvLink,
            "xgmi" => LinkClass::Xgmi,
            _ => LinkClass::C2c,
        };
        let one = self.vertex(VertexKind::Gpu, gpu);
        let other = match &link.target {
            // A virtual machine does not see its switches: NCCL has a name for such, or the class says
            // what it is.
            Some(target)
                if target.starts_with(HIDDEN_DOMAIN)
                    || (link.target_class.as_deref().is_some_and(is_bridge)
                        && self.device(target).is_err()) =>
            {
                self.add(Vertex {
                    kind: VertexKind::NvSwitch,
                    object: None,
                    name: Some(Vertex::ALL_SWITCHES.into()),
                })
            }
            Some(target) => {
                let target = self.device(target)?;
                let is_switch =
                    link.target_class.as_deref().is_some_and(is_bridge) || target.is_gpu_switch();
                let kind = if is_switch { VertexKind::NvSwitch } else { VertexKind::Gpu };
                self.vertex(kind, target)
            }
            None => self.vertex(VertexKind::Cpu, gpu.non_io_ancestor()),
        };
        // The file has each link of two GPUs twice, once from each.
        let is_known = |it: &Link| (it.class, it.one, it.other) == (class, other, one);
        if one == other {
            return Err(ToldError::Itself { bus_id: device.bus_id.clone() });
        }
        if self.links.iter().any(is_known) {
            return Ok(());
        }
        let each = match (class, gpu.attributes()) {
            (LinkClass::NvLink, Attributes::Pci(pci)) => Some(nvlink_bandwidth(pci.device_id)),
            _ => link.bandwidth,
        };
        let bandwidth = each.map(|each| each.saturating_mul(link.count.into()).min(u32::MAX - 1));
        self.links.push(Link {
            links: Some(link.count),
            forward: bandwidth,
            backward: bandwidth,
            ..Link::between(one, other, class, LinkOrigin::Told)
        });
        Ok(())
    }

    /// Leaves the part of this host in a file of several.
    fn keep_own_host(&self, file: &mut NcclFile) -> Result<(), ToldError> {
        let hosts: BTreeSet<Option<String>> =
            file.devices.iter().map(|device| device.host.clone()).collect();
        let fits = |host: &&Option<String>| {
            let mut own = file.ends().filter(|device| device.host == **host);
            own.all(|device| self.device(&device.bus_id).is_ok())
        };
        let fitting: Vec<&Option<String>> = hosts.iter().filter(fits).collect();
        match (hosts.len(), &fitting[..]) {
            (0 | 1, _) => Ok(()),
            (_, [own]) => {
                let is_own = |at: usize| file.devices.get(at).is_some_and(|it| it.host == **own);
                let links = file.links.iter().filter(|link| is_own(link.gpu)).cloned().collect();
                file.links = links;
                // Places in the list stay those of links and switches.
                file.devices
                    .iter_mut()
                    .filter(|it| it.host != **own)
                    .for_each(|it| it.bus_id.clear());
                Ok(())
            }
            (hosts, fitting) => Err(ToldError::Hosts { hosts, fitting: fitting.len() }),
        }
    }

    fn device(&self, bus_id: &str) -> Result<Object<'t>, ToldError> {
        let found = self.known.topology().pci_device_by_bus_id(bus_id);
        found.ok_or_else(|| ToldError::Device { bus_id: bus_id.to_owned() })
    }

    /// The vertex of an object, or of the vertex of the graph that it is a part of.
    fn vertex(&mut self, kind: VertexKind, object: Object<'t>) -> VertexId {
        let known = self.known.vertex_of(object);
        let known = known.and_then(|it| self.known.vertex(it).cloned());
        let own = Vertex { kind, object: Some(object.id()), name: None };
        // A switch that is known as all switches of the node has no object.
        self.add(known.unwrap_or(own))
    }

    fn add(&mut self, vertex: Vertex) -> VertexId {
        let place = self.vertices.iter().position(|it| *it == vertex).unwrap_or_else(|| {
            self.vertices.push(vertex);
            self.vertices.len() - 1
        });
        VertexId::at(place).unwrap_or(VertexId(u16::MAX))
    }

    fn json(&mut self, graph: &Value) -> Result<(), ToldError> {
        let list =
            |name: &str| graph.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let nodes = list("nodes");
        let edges = graph.get("edges").and_then(Value::as_array).filter(|it| !it.is_empty());
        let edges = edges.ok_or(ToldError::NoEdges)?;
        for (edge, fields) in edges.iter().enumerate() {
            let field = |name| fields.get(name).unwrap_or(&Value::Null);
            let wrong = |name: &'static str, expected| ToldError::Field {
                edge,
                field: name,
                found: field(name).to_string(),
                expected,
            };
            let word = |name: &'static str| field(name).as_str();
            let class = LinkClass::ALL.into_iter().find(|it| word("class") == Some(it.name()));
            let class = class.ok_or_else(|| {
                wrong("class", "LOC, MEM, CPU, SMP, PCI, NVL, XGMI, C2C, XE or FAB")
            })?;
            let origin = match field("origin") {
                Value::Null => LinkOrigin::Told,
                word => {
                    let known =
                        LinkOrigin::ALL.into_iter().find(|it| word.as_str() == Some(it.name()));
                    known.ok_or_else(|| {
                        wrong(
                            "origin",
                            "reported, current, maximum, assumed, told or measured, or null",
                        )
                    })?
                }
            };
            let mut end = |name: &'static str| {
                let text = word(name).ok_or_else(|| wrong(name, "the name of a vertex"))?;
                let vertex = self.named(&nodes, text);
                vertex.ok_or_else(|| {
                    wrong(name, "a vertex of the topology, or of nodes with its kind")
                })
            };
            let (one, other) = (end("source")?, end("target")?);
            let number = |name: &'static str| match field(name) {
                Value::Null => Ok(None),
                value => {
                    let number = value.as_u64().and_then(|it| u32::try_from(it).ok());
                    number.filter(|it| (1..u32::MAX).contains(it)).map(Some).ok_or(())
                }
            };
            let value =
                |name| number(name).map_err(|()| wrong(name, "a number from 1 to 2^32-2, or null"));
            let (bandwidth, latency) = (value("bandwidth")?, value("latency")?);
            let links =
                number("links").and_then(|it| it.map(u16::try_from).transpose().map_err(|_| ()));
            let links = links.map_err(|()| wrong("links", "a number from 1 to 65535, or null"))?;
            if one == other {
                return Err(wrong("target", "another vertex than the source"));
            }
            // The other direction of a link is an edge of its own.
            let is_back = |it: &&mut Link| {
                it.class == class && (it.one, it.other) == (other, one) && it.backward.is_none()
            };
            if let Some(known) = self.links.iter_mut().find(is_back) {
                known.backward = bandwidth;
                continue;
            }
            let plain = Link::between(one, other, class, origin);
            self.links.push(Link { links, forward: bandwidth, latency, ..plain });
        }
        Ok(())
    }

    /// The vertex with a name: one of the graph, or a new one that `nodes` describe.
    fn named(&mut self, nodes: &[Value], name: &str) -> Option<VertexId> {
        if name.is_empty() {
            return None;
        }
        if let Some(known) = self.known.find(name) {
            let vertex = self.known.vertex(known).cloned()?;
            return Some(self.add(vertex));
        }
        let node =
            nodes.iter().find(|node| node.get("id").and_then(Value::as_str) == Some(name))?;
        let word = node.get("kind").and_then(Value::as_str);
        let kind = VertexKind::ALL.into_iter().find(|it| word == Some(it.name()))?;
        Some(self.add(Vertex { kind, object: None, name: Some(name.into()) }))
    }
}
