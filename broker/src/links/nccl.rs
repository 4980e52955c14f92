//! The XML file by which NCCL and RCCL know a machine: what `NCCL_TOPO_FILE` names. Containers and
//! virtual machines that hide the PCI tree need one.

use super::nccl_cpu::{cpu_attributes, node_number, node_of};
use super::nccl_read::MOST_ELEMENTS;
use super::pci_speed::pci_speed;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use topobroker_reader::{
    Object, ObjectType,
    links::{Link, LinkClass, Links, VertexId, VertexKind},
};

/// Why a machine cannot be described to NCCL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum NcclError {
    /// There is nothing to describe.
    #[error("the topology has no GPU and no NIC on PCI, so a file for NCCL would be empty")]
    NoDevice,
    /// NCCL reads no more elements.
    #[error(
        "the file would have {found} elements, with those that NCCL adds; it has room for \
         {MOST_ELEMENTS}"
    )]
    TooMany { found: usize },
    /// No GPU or NIC has a bus id that a virtual machine is said to know by another one.
    #[error("{bus_id}: is no GPU or NIC of this topology; `topobroker devices` lists them")]
    Unknown { bus_id: String },
}

/// Bus ids of a host's devices in lower case, each with the one that the device has in a virtual
/// machine.
pub type GuestBusIds = BTreeMap<String, String>;

/// Describes the GPUs and NICs of a machine to NCCL. `links` must have each switch of links between
/// GPUs as a vertex ([`SwitchModel::Separate`](topobroker_reader::links::SwitchModel::Separate)).
///
/// NCCL finds out itself which GPUs and NICs there are. So the file has the tree of NUMA nodes, PCI
/// switches and devices, and the links between GPUs, if hwloc reports how many there are. Devices
/// of unknown location are placed below the first NUMA node that has any.
///
/// The file is for a virtual machine if `guest` has bus ids: it has the devices that are named, by
/// the bus ids of the guest, and switches between GPUs as those that the guest does not see.
///
/// # Errors
///
/// [`NcclError`].
pub fn nccl(links: &Links<'_>, guest: &GuestBusIds) -> Result<String, NcclError> {
    let element = "nvlink";
    Dialect { version: 1, element, class: LinkClass::NvLink, guest }.write(links)
}

/// [`nccl`] for RCCL.
///
/// # Errors
///
/// [`NcclError`].
pub fn rccl(links: &Links<'_>, guest: &GuestBusIds) -> Result<String, NcclError> {
    let element = "xgmi";
    Dialect { version: 2, element, class: LinkClass::Xgmi, guest }.write(links)
}

struct Dialect<'g> {
    version: u32,
    /// The element of a link between GPUs.
    element: &'static str,
    class: LinkClass,
    guest: &'g GuestBusIds,
}

/// NUMA node by its OS index, with its switches and devices; `None` are those of no node.
struct Cpu<'a> {
    node: Option<Object<'a>>,
    below: Vec<Pci<'a>>,
}

/// A PCI device or switch, with what is below it.
struct Pci<'a> {
    object: Object<'a>,
    /// The vertex of a GPU.
    gpu: Option<VertexId>,
    below: Vec<Pci<'a>>,
}

impl Pci<'_> {
    /// Number of elements that NCCL adds for this and what is below it.
    fn added(&self) -> usize {
        let own = match (self.gpu, self.object.object_type()) {
            (Some(_), _) => 1,
            (None, ObjectType::PCIDevice) => 2,
            _ => 0,
        };
        own + self.below.iter().map(Pci::added).sum::<usize>()
    }
}

impl Dialect<'_> {
    fn write(&self, links: &Links<'_>) -> Result<String, NcclError> {
        let cpus = self.cpus(links)?;
        if cpus.is_empty() {
            return Err(NcclError::NoDevice);
        }
        let mut text = format!("<system version=\"{}\">\n", self.version);
        for cpu in &cpus {
            let _ = write!(text, "  <cpu numaid=\"{}\"", node_number(cpu.node));
            // A guest has other PUs.
            cpu_attributes(&mut text, links.topology(), cpu.node, self.guest.is_empty());
            text += ">\n";
            for pci in &cpu.below {
                self.pci(&mut text, links, pci, 2);
            }
            text += "  </cpu>\n";
        }
        text += "</system>\n";
        let written = text.matches('<').count() - text.matches("</").count();
        // NCCL adds elements for what it finds out: a GPU, or a NIC and its network.
        let added = |cpu: &Cpu<'_>| cpu.below.iter().map(Pci::added).sum::<usize>();
        let found = written + cpus.iter().map(added).sum::<usize>();
        if found > MOST_ELEMENTS {
            return Err(NcclError::TooMany { found });
        }
        Ok(text)
    }

    fn pci(&self, text: &mut String, links: &Links<'_>, pci: &Pci<'_>, depth: usize) {
        let indent = "  ".repeat(depth);
        let Some(found) = pci.object.pci_attributes() else { return };
        let _ = write!(
            text,
            "{indent}<pci busid=\"{}\" class=\"{}\"",
            self.bus_id(pci.object).unwrap_or_default(),
            class(pci.object)
        );
        let ids = [
            ("vendor", found.vendor_id),
            ("device", found.device_id),
            ("subsystem_vendor", found.subvendor_id),
            ("subsystem_device", found.subdevice_id),
        ];
        for (name, id) in ids {
            let _ = write!(text, " {name}=\"0x{id:04x}\"");
        }
        if let Some((speed, width)) = pci_speed(pci.object) {
            let _ = write!(text, " link_speed=\"{speed}\" link_width=\"{width}\"");
        }
        let own = pci.gpu.map(|gpu| self.links(links, gpu)).unwrap_or_default();
        if pci.below.is_empty() && own.is_empty() {
            *text += "/>\n";
            return;
        }
        *text += ">\n";
        if let Some(number) = pci.gpu.filter(|_| !own.is_empty()) {
            let _ = writeln!(text, "{indent}  <gpu dev=\"{}\">", device_number(links, number));
            for (target, count, class) in own {
                let _ = writeln!(
                    text,
                    "{indent}    <{} target=\"{target}\" count=\"{count}\" tclass=\"{class}\"/>",
                    self.element
                );
            }
            let _ = writeln!(text, "{indent}  </gpu>");
        }
        for below in &pci.below {
            self.pci(text, links, below, depth + 1);
        }
        let _ = writeln!(text, "{indent}</pci>");
    }

    /// The links of a GPU with other PCI devices: bus id, number of links, and class.
    fn links(&self, links: &Links<'_>, gpu: VertexId) -> Vec<(String, u16, String)> {
        let ends = |link: &Link| match (link.one == gpu, link.other == gpu) {
            (true, _) => Some(link.other),
            (_, true) => Some(link.one),
            _ => None,
        };
        let mut all: Vec<(String, u16, String)> = Vec::new();
        for link in links.links().iter().filter(|link| link.class == self.class) {
            let target = ends(link).and_then(|other| {
                let vertex = links.vertex(other)?;
                let is_guest = !self.guest.is_empty();
                if vertex.kind == VertexKind::NvSwitch && (vertex.object.is_none() || is_guest) {
                    return Some((HIDDEN_SWITCH.to_owned(), SWITCH_CLASS.to_owned()));
                }
                let object = pci_of(links.object(other)?)?;
                Some((self.bus_id(object)?, class(object)))
            });
            // NCCL and RCCL ask the driver themselves for links that are left out.
            let Some((count, (target, class))) = link.links.zip(target) else { continue };
            // Parts of a GPU are one device to RCCL.
            match all.iter_mut().find(|(known, ..)| *known == target) {
                Some((_, links, _)) if target == HIDDEN_SWITCH => {
                    *links = links.saturating_add(count);
                }
                Some(_) => {}
                None => all.push((target, count, class)),
            }
        }
        all
    }

    /// The bus id that the reader of the file knows a device by; `None` if it does not see it. A
    /// guest sees no PCI switches: theirs are in a domain that it does not have, as clouds name
    /// them.
    fn bus_id(&self, object: Object<'_>) -> Option<String> {
        let pci = object.pci_attributes()?;
        let own = pci.bus_id().to_string();
        match (self.guest.is_empty(), object.object_type()) {
            (true, _) => Some(own),
            (false, ObjectType::Bridge) => {
                Some(own.replacen(&format!("{:04x}", pci.domain), GUEST_DOMAIN, 1))
            }
            _ => self.guest.get(&own).cloned(),
        }
    }

    /// The NUMA nodes that GPUs and NICs hang on, each with its tree.
    fn cpus<'a>(&self, links: &Links<'a>) -> Result<Vec<Cpu<'a>>, NcclError> {
        let mut cpus: Vec<Cpu<'a>> = Vec::new();
        let mut unknown: BTreeSet<&String> = self.guest.keys().collect();
        for (vertex, found) in links.vertex_ids().zip(links.vertices()) {
            if !matches!(found.kind, VertexKind::Gpu | VertexKind::Nic) {
                continue;
            }
            let Some(pci) = links.object(vertex).and_then(pci_of) else { continue };
            if self.bus_id(pci).is_none() {
                continue;
            }
            if let Some(own) = pci.pci_attributes() {
                unknown.remove(&own.bus_id().to_string());
            }
            let node = node_of(links.topology(), pci);
            let place = cpus.iter().position(|it| it.node == node);
            let place = place.unwrap_or_else(|| {
                cpus.push(Cpu { node, below: Vec::new() });
                cpus.len() - 1
            });
            let mut way: Vec<Object<'a>> = pci.pci_switches().collect();
            way.reverse();
            way.push(pci);
            let Some(cpu) = cpus.get_mut(place) else { continue };
            let gpu = (found.kind == VertexKind::Gpu).then_some(vertex);
            insert(&mut cpu.below, &way, gpu);
        }
        if let Some(bus_id) = unknown.pop_first() {
            return Err(NcclError::Unknown { bus_id: bus_id.clone() });
        }
        cpus.sort_by_key(|cpu| cpu.node.and_then(Object::os_index));
        // NCCL takes node -1 together with others for one more processor, far from all of them.
        let homeless = cpus.len() > 1 && cpus.first().is_some_and(|it| it.node.is_none());
        let of_none = if homeless { cpus.remove(0).below } else { Vec::new() };
        if let Some(first) = cpus.first_mut() {
            first.below.extend(of_none);
        }
        Ok(cpus)
    }
}

/// The PCI domain of switches that a guest does not see.
const GUEST_DOMAIN: &str = "ffff";

/// The bus id that NCCL gives a switch that a virtual machine does not see, and the class of
/// switches.
const HIDDEN_SWITCH: &str = "fffffff:ffff:ff";
const SWITCH_CLASS: &str = "0x068000";

fn insert<'a>(below: &mut Vec<Pci<'a>>, way: &[Object<'a>], gpu: Option<VertexId>) {
    let Some((object, rest)) = way.split_first() else { return };
    let place = below.iter().position(|it| it.object == *object).unwrap_or_else(|| {
        below.push(Pci { object: *object, gpu: None, below: Vec::new() });
        below.len() - 1
    });
    let Some(pci) = below.get_mut(place) else { return };
    match rest.is_empty() {
        true => pci.gpu = pci.gpu.or(gpu),
        false => insert(&mut pci.below, rest, gpu),
    }
}

/// The PCI device that an object is, or is a part of.
fn pci_of(object: Object<'_>) -> Option<Object<'_>> {
    match object.object_type() {
        ObjectType::PCIDevice => Some(object),
        _ => object.pci_device_above(),
    }
}

/// The class with its programming interface, which hwloc does not keep.
fn class(object: Object<'_>) -> String {
    match (object.object_type(), object.pci_attributes()) {
        (ObjectType::Bridge, _) => "0x060400".to_owned(),
        // hwloc knows it by more than its class, which some have wrong.
        _ if object.is_gpu_switch() => SWITCH_CLASS.to_owned(),
        (_, Some(pci)) => format!("0x{:04x}00", pci.class_id),
        _ => "0x000000".to_owned(),
    }
}

/// The number of a GPU as NVML and ROCm SMI have it: the one in the name that they give it,
/// otherwise its place among GPUs.
pub(super) fn device_number(links: &Links<'_>, vertex: VertexId) -> u32 {
    let number = |object: Object<'_>| {
        let name = object.name()?.strip_prefix("nvml").or(object.name()?.strip_prefix("rsmi"))?;
        name.parse().ok()
    };
    let pci = links.object(vertex).and_then(pci_of);
    let named = pci.and_then(|pci| pci.io_children().find_map(number));
    let known = named.or_else(|| pci?.fact("NVMLNumber")?.parse().ok());
    known.unwrap_or_else(|| {
        let before = links.vertices().iter().take(vertex.index());
        u32::try_from(before.filter(|it| it.kind == VertexKind::Gpu).count()).unwrap_or(0)
    })
}
