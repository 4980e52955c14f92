//! Facts of devices: what Linux says of ports, network interfaces and PCI links, and drivers of
//! GPUs.

use super::nvml;
use super::root::Root;
use super::subnets::Routes;
use crate::description::describe;
use std::collections::BTreeSet;
use topobroker_layout::attributes::{Attributes, OsDeviceKind, Pci, vendor};
use topobroker_layout::description::Object;
use topobroker_layout::encode::{self, AlignedVec, EncodeError};
use topobroker_layout::object_type::ObjectType;
use topobroker_reader::Topology;
use topobroker_reader::devices::{NUMA_NODE, PHYSICAL_FUNCTION};

/// Facts that the driver of a GPU reports.
const OF_DRIVER: [&str; 5] =
    ["NVMLNumber", "NVIDIAMinor", "NVIDIAUUID", "NVLinkDomain", "MIGInstances"];

/// The facts that change while a node runs: of ports (as Port1State), of network interfaces and of
/// GPUs. All others stay as they are until devices do.
pub const CHANGING: [&str; 13] = [
    "PortState",
    "PortPhysicalState",
    "PortLinkLayer",
    "PortRate",
    "PortLID",
    "PortSMLID",
    "PortGID0",
    "PortPkeys",
    "Speed",
    "OperState",
    "IPSubnets",
    "NVLinkDomain",
    "MIGInstances",
];

/// Whether a fact is one of [`CHANGING`].
fn is_changing(name: &str) -> bool {
    let port = name
        .strip_prefix("Port")
        .map(|rest| rest.trim_start_matches(|it: char| it.is_ascii_digit()));
    CHANGING.into_iter().any(|changing| match port {
        Some(what) => changing.strip_prefix("Port") == Some(what),
        None => changing == name,
    })
}

/// Maximum number of ports of a device, and of partition keys of a port.
const MOST_ENTRIES: usize = 256;

/// Files of a port, and the names of their facts. hwloc has some of them too, but of no port after
/// one whose state cannot be read.
const PORT: [(&str, &str); 7] = [
    ("state", "State"),
    ("phys_state", "PhysicalState"),
    ("link_layer", "LinkLayer"),
    ("rate", "Rate"),
    ("lid", "LID"),
    ("sm_lid", "SMLID"),
    ("gids/0", "GID0"),
];

/// Adds to devices the facts that a file system has of them, and drivers of this node.
pub fn add_facts(objects: &mut [Object], root: &Root) {
    let gpus = if root.is_of_this_node() { gpus(objects) } else { Vec::new() };
    let found = facts(objects, root, |pci| of_gpu(pci, &gpus));
    objects.iter_mut().zip(found).for_each(|(object, found)| object.facts = found);
}

/// Replaces the facts of devices that change ([`CHANGING`]) by those that a file system has of them
/// now. No driver is asked: what it said of GPUs stays.
pub fn refresh_facts(objects: &mut [Object], root: &Root) {
    refresh(objects, root, &[], &|name| is_changing(name) && !OF_DRIVER.contains(&name));
}

/// A topology with the facts that a file system has of its devices now, as an archive in which
/// objects have the same numbers; `None` if nothing has changed.
///
/// # Errors
///
/// [`EncodeError`] if there are more facts than an archive can have.
pub fn with_facts_of_now(
    topology: Topology<'_>,
    root: &Root,
) -> Result<Option<AlignedVec>, EncodeError> {
    let mut machine = describe(topology);
    let published: Vec<Object> = machine.objects.clone();
    refresh_facts(&mut machine.objects, root);
    // A process in another network namespace sees other interfaces, which may have the same names.
    for (place, object) in machine.objects.iter_mut().enumerate() {
        if !is_here(&published, place, root) {
            object.facts = published.get(place).map(|it| it.facts.clone()).unwrap_or_default();
        }
    }
    let has_changed = sorted_facts(&published) != sorted_facts(&machine.objects);
    has_changed.then(|| encode::to_bytes(&machine)).transpose()
}

/// The facts of each object, sorted: what is compared to know whether facts have changed.
#[must_use]
pub fn sorted_facts(objects: &[Object]) -> Vec<Vec<(String, String)>> {
    let of = |object: &Object| {
        let mut facts = object.facts.clone();
        facts.sort();
        facts
    };
    objects.iter().map(of).collect()
}

/// Whether a network interface, or the port of an OpenFabrics device, is seen here: that of the
/// same PCI device. True of all other objects.
fn is_here(objects: &[Object], place: usize, root: &Root) -> bool {
    let Some(object) = objects.get(place) else { return false };
    let class = match &object.attributes {
        Attributes::OsDevice { kind: OsDeviceKind::Network } => "net",
        Attributes::OsDevice { kind: OsDeviceKind::OpenFabrics } => "infiniband",
        _ => return true,
    };
    let Some(name) = object.name.as_deref().filter(|name| is_name(name)) else { return true };
    let folder = root.path(&format!("sys/class/{class}/{name}"));
    let pci = object.parent.and_then(|parent| match &objects.get(parent)?.attributes {
        Attributes::Pci(pci) => Some(pci.bus_id().to_string()),
        _ => None,
    });
    let device = std::fs::read_link(folder.join("device")).ok();
    let device = device.as_ref().and_then(|link| link.file_name()?.to_str());
    match pci {
        Some(pci) => device == Some(pci.as_str()),
        None => folder.exists(),
    }
}

/// Replaces the facts of GPUs that change by what drivers of this node say now. To ask a driver
/// takes a second if the GPUs are idle.
pub fn refresh_driver_facts(objects: &mut [Object], root: &Root) {
    let gpus = if root.is_of_this_node() { gpus(objects) } else { Vec::new() };
    if !gpus.is_empty() {
        refresh(objects, root, &gpus, &|name| is_changing(name) && OF_DRIVER.contains(&name));
    }
}

fn refresh(objects: &mut [Object], root: &Root, gpus: &[nvml::Gpu], is_new: &dyn Fn(&str) -> bool) {
    let now = facts(objects, root, |pci| of_gpu(pci, gpus));
    for (object, now) in objects.iter_mut().zip(now) {
        object.facts.retain(|(name, _)| !is_new(name));
        object.facts.extend(now.into_iter().filter(|(name, _)| is_new(name)));
    }
}

/// The facts of each device that a file system and drivers say now.
fn facts(
    objects: &[Object],
    root: &Root,
    of_driver: impl Fn(&Pci) -> Vec<(String, String)>,
) -> Vec<Vec<(String, String)>> {
    let anywhere = devices_of_the_machine(objects);
    let routes = Routes::of(root);
    let of_object = |(place, object): (usize, &Object)| {
        let facts = match &object.attributes {
            Attributes::Pci(pci) => {
                let near = anywhere.contains(&place).then(|| numa_node(pci, root)).flatten();
                let above = root.link(&format!("{}/physfn", folder(pci)));
                let above = above.map(|bus_id| (PHYSICAL_FUNCTION.to_owned(), bus_id));
                link(pci, root).into_iter().chain(near).chain(above).chain(of_driver(pci)).collect()
            }
            Attributes::Bridge(bridge) => {
                bridge.upstream.as_ref().map(|pci| link(pci, root)).unwrap_or_default()
            }
            Attributes::OsDevice { kind } => match (kind, &object.name) {
                (OsDeviceKind::OpenFabrics, Some(name)) if is_name(name) => ports(name, root),
                (OsDeviceKind::Network, Some(name)) if is_name(name) => {
                    interface(name, root, &routes)
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let is_new = |fact: &(String, String)| !object.infos.contains(fact);
        facts.into_iter().filter(is_new).collect()
    };
    objects.iter().enumerate().map(of_object).collect()
}

/// The places of the PCI devices that hwloc puts below the machine, although it has several NUMA
/// nodes: those of a node without PUs, and those of which the node is not known.
fn devices_of_the_machine(objects: &[Object]) -> BTreeSet<usize> {
    let nodes = objects.iter().filter(|it| it.object_type == ObjectType::NUMANode);
    if nodes.count() < 2 {
        return BTreeSet::new();
    }
    let is_io = |place: &usize| objects.get(*place).is_some_and(|it| it.object_type.is_io());
    let parent = |place: &usize| objects.get(*place)?.parent;
    let is_below_machine = |place: &usize| {
        let mut above = std::iter::successors(Some(*place), parent);
        above.find(|place| !is_io(place)) == Some(0)
    };
    let devices = objects.iter().enumerate();
    let devices = devices.filter(|(_, it)| it.object_type == ObjectType::PCIDevice);
    devices.map(|(place, _)| place).filter(is_below_machine).collect()
}

/// What the driver says of the GPUs of NVIDIA, if there are any: to start it takes a second if
/// no process uses them.
fn gpus(objects: &[Object]) -> Vec<nvml::Gpu> {
    let is_one = |object: &Object| match &object.attributes {
        Attributes::Pci(pci) => pci.vendor_id == vendor::NVIDIA && pci.is_display(),
        _ => false,
    };
    if objects.iter().any(is_one) { nvml::gpus() } else { Vec::new() }
}

fn of_gpu(pci: &Pci, gpus: &[nvml::Gpu]) -> Vec<(String, String)> {
    let Some(gpu) = gpus.iter().find(|gpu| gpu.bus_id == pci.bus_id()) else {
        return Vec::new();
    };
    let instances = Some(gpu.instances.join(",")).filter(|list| !list.is_empty());
    let facts = [
        Some(gpu.number.to_string()),
        gpu.minor.map(|minor| minor.to_string()),
        gpu.uuid.clone(),
        gpu.nvlink_domain.clone(),
        instances,
    ];
    OF_DRIVER
        .into_iter()
        .zip(facts)
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

/// Whether a device's name is a name of a file.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains('/')
}

fn ports(device: &str, root: &Root) -> Vec<(String, String)> {
    let device = format!("sys/class/infiniband/{device}");
    let node_type = root.line(&format!("{device}/node_type"));
    let mut facts: Vec<(String, String)> =
        node_type.map(|it| ("NodeType".to_owned(), it)).into_iter().collect();
    let numbers = root.names(&format!("{device}/ports"));
    for port in numbers.iter().filter(|port| port.parse::<u8>().is_ok()).take(MOST_ENTRIES) {
        let folder = format!("{device}/ports/{port}");
        for (file, what) in PORT {
            let text = root.line(&format!("{folder}/{file}"));
            facts.extend(text.map(|text| (format!("Port{port}{what}"), worded(what, text))));
        }
        let pkeys = pkeys(&format!("{folder}/pkeys"), root);
        facts.extend(pkeys.map(|list| (format!("Port{port}Pkeys"), list)));
    }
    facts
}

/// The text of a file in hwloc's words, which has only the number of a state.
fn worded(what: &str, text: String) -> String {
    match what {
        "State" => text.split(':').next().unwrap_or_default().to_owned(),
        _ => text,
    }
}

/// The distinct partition keys of a port; unused entries of the table are 0.
fn pkeys(folder: &str, root: &Root) -> Option<String> {
    let mut keys: Vec<String> = Vec::new();
    for index in root.names(folder).iter().take(MOST_ENTRIES) {
        let key = root.line(&format!("{folder}/{index}"));
        keys.extend(key.filter(|key| key != "0x0000" && !keys.contains(key)));
    }
    (!keys.is_empty()).then(|| keys.join(","))
}

fn interface(name: &str, root: &Root, routes: &Routes) -> Vec<(String, String)> {
    let reported = |file, fact: &str| {
        Some((fact.to_owned(), root.line(&format!("sys/class/net/{name}/{file}"))?))
    };
    // An interface that is down has a speed of -1, or none.
    let is_speed = |fact: &(String, String)| fact.1.parse::<u32>().is_ok_and(|it| it > 0);
    let speed = reported("speed", "Speed").filter(is_speed);
    let subnets = routes.subnets(name, root).map(|list| ("IPSubnets".to_owned(), list));
    speed.into_iter().chain(reported("operstate", "OperState")).chain(subnets).collect()
}

/// The OS index of the NUMA node that Linux says a device is near.
fn numa_node(pci: &Pci, root: &Root) -> Option<(String, String)> {
    let node = root.line(&format!("{}/numa_node", folder(pci)))?;
    node.parse::<u32>().is_ok().then(|| (NUMA_NODE.to_owned(), node))
}

fn folder(pci: &Pci) -> String {
    format!("sys/bus/pci/devices/{}", pci.bus_id())
}

fn link(pci: &Pci, root: &Root) -> Vec<(String, String)> {
    let folder = folder(pci);
    let reported =
        |file, fact: &str| Some((fact.to_owned(), root.line(&format!("{folder}/{file}"))?));
    let speed = reported("max_link_speed", "MaxLinkSpeed");
    // Linux says 255 lanes, or an unknown speed, of a device without a link.
    let known = speed.zip(reported("max_link_width", "MaxLinkWidth")).filter(|(speed, width)| {
        speed.1.starts_with(|it: char| it.is_ascii_digit())
            && width.1.parse::<u8>().is_ok_and(|lanes| lanes > 0 && lanes < 255)
    });
    known.map(|(speed, width)| vec![speed, width]).unwrap_or_default()
}
