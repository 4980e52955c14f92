//! Links that an administrator declares: as the JSON that `topobroker links --of json` prints, as a
//! file of NCCL or RCCL, or as the table of `nvidia-smi topo -m`.

use super::nccl_read::{NcclDevice, NcclFile, NcclLink};
use super::new_links::{LinksReadError, NewLinks};
use super::smi_table::is_table;
use serde_json::Value;
use std::collections::BTreeSet;
use topobroker_reader::links::{Link, LinkClass, LinkOrigin, Links, Vertex, VertexId, VertexKind};

/// Links that a text declares.
#[derive(Debug)]
pub struct Declared<'a> {
    /// The links.
    pub links: Links<'a>,
    /// What was left out, and why: links of GPUs to themselves, and devices that the topology
    /// lacks.
    pub notes: Vec<String>,
}

/// Reads links of the topology of a graph: from JSON, a file of NCCL or RCCL, or the table of
/// `nvidia-smi topo -m`. `known` is the graph, by whose vertices JSON names the ends of links; with
/// [`SwitchModel::Separate`], so that links to different switches stay apart.
///
/// [`SwitchModel::Separate`]: topobroker_reader::links::SwitchModel::Separate
///
/// # Errors
///
/// [`LinksReadError`].
pub fn declared<'a>(known: &Links<'a>, text: &str) -> Result<Declared<'a>, LinksReadError> {
    let mut declared =
        NewLinks { known, vertices: Vec::new(), links: Vec::new(), notes: Vec::new() };
    match text.trim_start().chars().next() {
        Some('<') => {
            let mut file = NcclFile::read(text)?;
            declared.keep_own_host(&mut file)?;
            declared.leave_out_others(&file)?;
            if file.links.is_empty() {
                return Err(LinksReadError::NoLinks);
            }
            file.links.iter().for_each(|link| declared.nccl(&file, link));
        }
        Some('{' | '[') => declared.json(&serde_json::from_str(text)?)?,
        _ if is_table(text) => declared.table(text)?,
        _ => return Err(LinksReadError::Form),
    }
    let links = Links::new(known.topology(), declared.vertices, declared.links)?;
    Ok(Declared { links, notes: declared.notes })
}

/// Whether a PCI class in 24 bits is that of a switch between GPUs: a bridge of no standard kind.
fn is_bridge(class: &str) -> bool {
    class.trim_start_matches("0x").starts_with("0680")
}

/// The domain of the bus id that NCCL gives to a switch that it does not see: `fffffff:ffff:ff`, or
/// `fffffff:ff:ff.0`.
const HIDDEN_DOMAIN: &str = "fffffff:";

impl<'t> NewLinks<'_, 't> {
    /// Notes the devices that the topology lacks, which NCCL does not use. A file of another
    /// machine names no device of it.
    fn leave_out_others(&mut self, file: &NcclFile) -> Result<(), LinksReadError> {
        let ends = file.ends().filter(|device| !device.bus_id.is_empty());
        let (own, others): (Vec<&NcclDevice>, Vec<_>) =
            ends.partition(|device| self.device(&device.bus_id).is_some());
        if let (true, Some(other)) = (own.is_empty(), others.first()) {
            return Err(LinksReadError::Device { bus_id: other.bus_id.clone() });
        }
        let note = |it: &&NcclDevice| {
            format!("{}: left out: the topology has no such PCI device", it.bus_id)
        };
        self.notes.extend(others.iter().map(note));
        Ok(())
    }

    fn nccl(&mut self, file: &NcclFile, link: &NcclLink) {
        let Some(device) = file.devices.get(link.gpu) else { return };
        let Some(gpu) = self.device(&device.bus_id) else { return };
        let class = match link.element.as_str() {
            "nvlink" => LinkClass::NvLink,
            "xgmi" => LinkClass::Xgmi,
            _ => LinkClass::C2c,
        };
        let one = self.vertex(VertexKind::Gpu, gpu);
        let other = match &link.target {
            None => self.vertex(VertexKind::Cpu, gpu.non_io_ancestor()),
            Some(target) => match (self.device(target), link.target_class.as_deref()) {
                (Some(target), class) => {
                    let is_switch = class.is_some_and(is_bridge) || target.is_gpu_switch();
                    let kind = if is_switch { VertexKind::NvSwitch } else { VertexKind::Gpu };
                    self.vertex(kind, target)
                }
                // A virtual machine does not see its switches: a target that it lacks is one,
                // unless the class says otherwise.
                (None, class)
                    if class.is_none_or(is_bridge) || target.starts_with(HIDDEN_DOMAIN) =>
                {
                    self.add(Vertex {
                        kind: VertexKind::NvSwitch,
                        object: None,
                        name: Some(Vertex::ALL_SWITCHES.into()),
                    })
                }
                (None, _) => {
                    self.notes.push(format!(
                        "{target}: a link to it is left out: the topology has no such GPU"
                    ));
                    return;
                }
            },
        };
        if one == other {
            self.notes.push(format!("{}: its link to itself is left out", device.bus_id));
            return;
        }
        self.link(one, other, class, Some(link.count), link.bandwidth);
    }

    /// Leaves the part of this host in a file of several.
    fn keep_own_host(&self, file: &mut NcclFile) -> Result<(), LinksReadError> {
        let hosts: BTreeSet<Option<String>> =
            file.devices.iter().map(|device| device.host.clone()).collect();
        let fits = |host: &&Option<String>| {
            let mut own = file.ends().filter(|device| device.host == **host);
            own.all(|device| self.device(&device.bus_id).is_some())
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
            (hosts, fitting) => Err(LinksReadError::Hosts { hosts, fitting: fitting.len() }),
        }
    }

    fn json(&mut self, graph: &Value) -> Result<(), LinksReadError> {
        let list =
            |name: &str| graph.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let nodes = list("nodes");
        let edges = graph.get("edges").and_then(Value::as_array).filter(|it| !it.is_empty());
        let edges = edges.ok_or(LinksReadError::NoEdges)?;
        for (edge, fields) in edges.iter().enumerate() {
            let field = |name| fields.get(name).unwrap_or(&Value::Null);
            let wrong = |name: &'static str, expected| LinksReadError::Field {
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
                Value::Null => LinkOrigin::Declared,
                word => {
                    let known =
                        LinkOrigin::ALL.into_iter().find(|it| word.as_str() == Some(it.name()));
                    known.ok_or_else(|| {
                        wrong(
                            "origin",
                            "reported, current, maximum, assumed, declared or measured, or null",
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
