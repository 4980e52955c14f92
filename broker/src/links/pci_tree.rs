//! The PCI tree of a virtual machine as a file of NCCL has it. Clouds hide switches and NUMA nodes
//! from their guests, and give them such files.

use super::nccl_read::{NcclDevice, NcclFile, NcclReadError};
use crate::description::{Filters, filter};
use std::collections::{BTreeSet, HashMap, HashSet};
use topobroker_layout::attributes::{Attributes, Bridge, BusId, Pci};
use topobroker_layout::depth::Depth;
use topobroker_layout::description::{Description, Object};
use topobroker_layout::object_type::{ChildKind, ObjectType};
use topobroker_reader::devices::NUMA_NODE;

/// Why a PCI tree is not that of a topology.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum PciTreeError {
    /// The file is none that NCCL reads.
    #[error(transparent)]
    Nccl(#[from] NcclReadError),
    /// The file has several hosts.
    #[error("the file has {hosts} hosts; expected one: keep the cpu elements of this machine")]
    Hosts { hosts: usize },
    /// No device of the file is in the topology.
    #[error("{bus_id}: the topology has no such PCI device; expected a file of this machine")]
    Device { bus_id: String },
    /// A NUMA node of the file is not in the topology.
    #[error(
        "numaid {numa}: the topology has no such NUMA node; expected one of its OS indexes, or -1"
    )]
    Node { numa: i64 },
    /// A switch has a bus id of more than a PCI bus has.
    #[error(
        "{bus_id}: is no bus id of a switch; expected a domain, a bus below 0x100, a device and a \
         function"
    )]
    Switch { bus_id: String },
}

/// The fact of a device or switch that is where a file says, and not where hwloc found it.
const DECLARED: (&str, &str) = ("Locality", "declared");

/// A topology with its PCI devices below the NUMA nodes and switches that a file of NCCL says. The
/// file has each GPU and NIC by its bus id in this machine; devices that it does not have, and
/// those of numaid -1, stay where they are. What is moved has the fact `Locality=declared`. The
/// lines that are returned name the devices of the file that the topology lacks, which NCCL does
/// not use.
///
/// # Errors
///
/// [`PciTreeError`].
pub fn with_pci_tree(
    description: &Description,
    text: &str,
) -> Result<(Description, Vec<String>), PciTreeError> {
    let file = NcclFile::read(text)?;
    let hosts: BTreeSet<&Option<String>> = file.devices.iter().map(|it| &it.host).collect();
    if hosts.len() > 1 {
        return Err(PciTreeError::Hosts { hosts: hosts.len() });
    }
    let mut tree = Tree {
        description: description.clone(),
        bridges: HashMap::new(),
        known: description.objects.iter().map(|it| it.gp_index).collect(),
        next_gp_index: 1,
    };
    let mut left_out = Vec::new();
    for device in file.ends() {
        if !tree.place(&file, device)? {
            left_out.push(device.bus_id.clone());
        }
    }
    if let (Some(bus_id), true) = (left_out.first(), left_out.len() == file.ends().count()) {
        return Err(PciTreeError::Device { bus_id: bus_id.clone() });
    }
    let note = |it: &String| format!("{it}: left out: the topology has no such PCI device");
    // Gives all objects their numbers, and leaves out bridges that nothing is below any more.
    let mut same = Filters::default();
    for (object_type, kept) in ObjectType::ALL.into_iter().zip(&description.type_filters) {
        same.set(object_type, *kept);
    }
    Ok((filter(&tree.description, &same), left_out.iter().map(note).collect()))
}

struct Tree {
    description: Description,
    /// Places of the bridges that are added: for each NUMA node its host bridge, and for each
    /// switch of the file the switch.
    bridges: HashMap<(i64, Option<usize>), usize>,
    known: HashSet<u64>,
    next_gp_index: u64,
}

impl Tree {
    /// Puts a device where the file has it. Returns whether the topology has it.
    fn place(&mut self, file: &NcclFile, device: &NcclDevice) -> Result<bool, PciTreeError> {
        // Files write leading zeros or not.
        let wanted = BusId::parse(&device.bus_id);
        let is_it = |object: &Object| match &object.attributes {
            Attributes::Pci(pci) => wanted == Some(pci.bus_id()),
            _ => false,
        };
        let place = self.description.objects.iter().position(is_it);
        let Some(place) = place else { return Ok(false) };
        if device.numa < 0 {
            return Ok(true);
        }
        let above = match device.switch {
            Some(switch) => self.port_below(file, switch)?,
            None => self.host_bridge(device.numa)?,
        };
        self.learn_link(place, device);
        self.hang(place, above);
        // What Linux says is overtaken, and hwloc does not show a node without PUs.
        if let Some(object) = self.description.objects.get_mut(place) {
            object.facts.retain(|(name, _)| name != NUMA_NODE);
            object.facts.push((NUMA_NODE.to_owned(), device.numa.to_string()));
        }
        Ok(true)
    }

    /// A new downstream port of a switch of the file.
    fn port_below(&mut self, file: &NcclFile, number: usize) -> Result<usize, PciTreeError> {
        let (switch, pci) = self.switch(file, number)?;
        Ok(self.add_port(pci, switch))
    }

    /// The upstream port of a switch of the file, with its bus id.
    fn switch(&mut self, file: &NcclFile, number: usize) -> Result<(usize, Pci), PciTreeError> {
        let switch = file.devices.get(number);
        let pci = switch.and_then(port_of);
        let (Some(switch), Some(pci)) = (switch, pci) else {
            let bus_id = switch.map(|it| it.bus_id.clone()).unwrap_or_default();
            return Err(PciTreeError::Switch { bus_id });
        };
        if let Some(known) = self.bridges.get(&(switch.numa, Some(number))) {
            return Ok((*known, pci));
        }
        // It hangs on a port of the switch above, or on a root port.
        let above = match switch.switch {
            Some(above) => self.port_below(file, above)?,
            None => {
                let host_bridge = self.host_bridge(switch.numa)?;
                self.add_port(pci, host_bridge)
            }
        };
        let place = self.add_port(pci, above);
        self.learn_link(place, switch);
        self.bridges.insert((switch.numa, Some(number)), place);
        Ok((place, pci))
    }

    /// Adds a port. Ports that the file does not name have the bus id of their switch.
    fn add_port(&mut self, pci: Pci, above: usize) -> usize {
        let place = self.add_bridge(Bridge {
            upstream: Some(pci),
            downstream_type: 1,
            downstream_domain: pci.domain,
            secondary_bus: pci.bus,
            subordinate_bus: pci.bus,
            depth: 0,
        });
        self.hang(place, above);
        place
    }

    /// The host bridge that is added next to a NUMA node.
    fn host_bridge(&mut self, numa: i64) -> Result<usize, PciTreeError> {
        if let Some(known) = self.bridges.get(&(numa, None)) {
            return Ok(*known);
        }
        let is_it = |object: &Object| {
            object.object_type == ObjectType::NUMANode
                && object.os_index.map(i64::from) == Some(numa)
        };
        let objects = &self.description.objects;
        let node = objects.iter().find(|object| is_it(object));
        let mut above = node.and_then(|node| node.parent).ok_or(PciTreeError::Node { numa })?;
        // Memory is attached to what has PUs, maybe with caches between them.
        while let Some(object) = objects.get(above)
            && object.child_kind() == ChildKind::Memory
            && let Some(parent) = object.parent
        {
            above = parent;
        }
        let place = self.add_bridge(Bridge {
            downstream_type: 1,
            subordinate_bus: u8::MAX,
            ..Bridge::default()
        });
        self.hang(place, above);
        self.bridges.insert((numa, None), place);
        Ok(place)
    }

    fn add_bridge(&mut self, bridge: Bridge) -> usize {
        while !self.known.insert(self.next_gp_index) {
            self.next_gp_index += 1;
        }
        let objects = &mut self.description.objects;
        objects.push(Object {
            object_type: ObjectType::Bridge,
            depth: Depth::Bridge,
            gp_index: self.next_gp_index,
            facts: vec![(DECLARED.0.to_owned(), DECLARED.1.to_owned())],
            attributes: Attributes::Bridge(bridge),
            ..Object::default()
        });
        objects.len() - 1
    }

    /// Makes an I/O object the last I/O child of another object.
    fn hang(&mut self, place: usize, above: usize) {
        let objects = &mut self.description.objects;
        let before = objects.get_mut(place).and_then(|object| object.parent.replace(above));
        if let Some(before) = before.and_then(|before| objects.get_mut(before)) {
            before.children.retain(|child| *child != place);
        }
        let is_misc = |child: &usize| {
            objects.get(*child).is_some_and(|child| child.child_kind() == ChildKind::Misc)
        };
        let children = objects.get(above).map(|above| &above.children);
        let at = children.and_then(|it| it.iter().position(is_misc));
        if let Some(above) = objects.get_mut(above) {
            above.children.insert(at.unwrap_or(above.children.len()), place);
        }
    }

    /// Keeps what the file says of a link, if the guest's Linux does not.
    fn learn_link(&mut self, place: usize, device: &NcclDevice) {
        let Some(object) = self.description.objects.get_mut(place) else { return };
        let declared = (DECLARED.0.to_owned(), DECLARED.1.to_owned());
        if !object.facts.contains(&declared) {
            object.facts.push(declared);
        }
        for (attribute, fact) in [("link_speed", "MaxLinkSpeed"), ("link_width", "MaxLinkWidth")] {
            let is_known = object.facts.iter().any(|(name, _)| name == fact);
            let value = device.attributes.get(attribute).filter(|it| !it.is_empty() && !is_known);
            object.facts.extend(value.map(|value| (fact.to_owned(), value.clone())));
        }
    }
}

/// A switch as a PCI device; `None` if its bus id is beyond what PCI has.
fn port_of(switch: &NcclDevice) -> Option<Pci> {
    let attribute = |name: &str| {
        let digits = switch.attributes.get(name)?.trim_start_matches("0x");
        u16::from_str_radix(digits, 16).ok()
    };
    let BusId { domain, bus, dev, func } =
        BusId::parse(&switch.bus_id).filter(|it| it.dev < 32 && it.func < 8)?;
    Some(Pci {
        domain,
        bus,
        dev,
        func,
        class_id: 0x0604,
        vendor_id: attribute("vendor").unwrap_or(0),
        device_id: attribute("device").unwrap_or(0),
        subvendor_id: attribute("subsystem_vendor").unwrap_or(0),
        subdevice_id: attribute("subsystem_device").unwrap_or(0),
        ..Pci::default()
    })
}
