//! The details of an object, one in each line.

use crate::output::in_line;
use topobroker_reader::{Associativity, Attributes, CacheKind, Initiator, Object, ObjectType, Pci};

/// A short title of an object: its type and logical index.
pub(super) fn title(object: Object<'_>) -> String {
    format!("{} L#{}", object.type_name(true), object.logical_index())
}

/// The lines that `info` prints below the title of an object.
pub(super) fn details(object: Object<'_>) -> Vec<String> {
    let mut facts = Lines { lines: Vec::new() };
    facts.identity(object);
    facts.sets(object);
    facts.attributes(object);
    facts.put("symmetric subtree", u8::from(object.is_symmetric_subtree()));
    for info in object.infos() {
        facts.put(&format!("info {}", info.name), info.value);
    }
    facts.cpu_kinds(object);
    facts.memory_attributes(object);
    facts.lines
}

struct Lines {
    lines: Vec<String>,
}

impl Lines {
    fn put(&mut self, name: &str, value: impl std::fmt::Display) {
        let value = value.to_string();
        self.lines.push(format!(" {} = {}", in_line(name), in_line(&value)));
    }

    fn identity(&mut self, object: Object<'_>) {
        self.put("type", object.object_type().name());
        self.put("full type", object.type_name(true));
        if let Some(subtype) = object.subtype() {
            self.put("subtype", subtype);
        }
        self.put("logical index", object.logical_index());
        if let Some(os_index) = object.os_index() {
            self.put("os index", os_index);
        }
        self.put("gp index", object.gp_index());
        if let Some(name) = object.name() {
            self.put("name", name);
        }
        self.put("depth", object.depth());
        self.put("sibling rank", object.sibling_rank());
        self.put("children", object.children().len());
        self.put("memory children", object.memory_children().len());
        self.put("i/o children", object.io_children().len());
        self.put("misc children", object.misc_children().len());
        if let Attributes::NumaNode { local_memory } = object.attributes() {
            self.put("local memory", local_memory);
        }
        if object.total_memory() > 0 {
            self.put("total memory", object.total_memory());
        }
    }

    fn sets(&mut self, object: Object<'_>) {
        let topology = object.topology();
        if let (Some(cpuset), Some(complete)) = (object.cpuset(), object.complete_cpuset()) {
            self.put("cpuset", &cpuset);
            self.put("complete cpuset", complete);
            self.put("allowed cpuset", &cpuset & &topology.allowed_cpuset());
        }
        if let (Some(nodeset), Some(complete)) = (object.nodeset(), object.complete_nodeset()) {
            self.put("nodeset", &nodeset);
            self.put("complete nodeset", complete);
            self.put("allowed nodeset", &nodeset & &topology.allowed_nodeset());
        }
    }

    fn attributes(&mut self, object: Object<'_>) {
        match object.attributes() {
            Attributes::Cache(cache) => {
                self.put("attr cache depth", cache.depth);
                self.put(
                    "attr cache type",
                    match cache.kind {
                        CacheKind::Unified => "Unified",
                        CacheKind::Data => "Data",
                        CacheKind::Instruction => "Instruction",
                        _ => "Unknown",
                    },
                );
                self.put("attr cache size", cache.size);
                self.put("attr cache line size", cache.linesize);
                match cache.associativity {
                    Some(Associativity::Full) => self.put("attr cache ways", "Fully-associative"),
                    Some(Associativity::Ways(ways)) => self.put("attr cache ways", ways),
                    None => {}
                }
            }
            Attributes::Group(group) => self.put("attr group depth", group.depth),
            Attributes::Bridge(bridge) => {
                let upstream = if bridge.upstream.is_some() { "PCI" } else { "Host" };
                self.put("attr bridge upstream type", upstream);
                if let Some(pci) = &bridge.upstream {
                    self.pci(pci);
                }
                self.put("attr bridge downstream type", "PCI");
                self.put("attr PCI secondary bus", format_args!("{:02x}", bridge.secondary_bus));
                self.put(
                    "attr PCI subordinate bus",
                    format_args!("{:02x}", bridge.subordinate_bus),
                );
            }
            Attributes::Pci(pci) => self.pci(&pci),
            Attributes::OsDevice { .. } => self.put("attr osdev type", object.type_name(true)),
            _ => {}
        }
    }

    fn pci(&mut self, pci: &Pci) {
        let Pci { domain, bus, dev, func, class_id, vendor_id, device_id, .. } = pci;
        self.put("attr PCI bus id", format_args!("{domain:04x}:{bus:02x}:{dev:02x}.{func:01x}"));
        self.put("attr PCI class", format_args!("{class_id:04x}"));
        self.put("attr PCI id", format_args!("{vendor_id:04x}:{device_id:04x}"));
        if pci.linkspeed != 0.0 {
            self.put("attr PCI linkspeed", format_args!("{:.6} GB/s", pci.linkspeed));
        }
    }

    fn cpu_kinds(&mut self, object: Object<'_>) {
        if !object.object_type().is_normal() {
            return;
        }
        let cpuset = object.cpuset().unwrap_or_default();
        for (place, kind) in object.topology().cpu_kinds().enumerate() {
            // Every kind includes an empty cpuset.
            let whole = cpuset.is_included_in(&kind.cpuset());
            if !whole && !object.intersects(&kind.cpuset()) {
                continue;
            }
            self.put("cpukind", format_args!("{place}{}", if whole { "" } else { " (partially)" }));
            if let Some(efficiency) = kind.efficiency() {
                self.put("cpukind efficiency", efficiency);
            }
            for info in kind.infos() {
                self.put(&format!("cpukind info {}", info.name), info.value);
            }
        }
    }

    fn memory_attributes(&mut self, object: Object<'_>) {
        if object.object_type() != ObjectType::NUMANode {
            return;
        }
        for attribute in object.topology().memory_attributes() {
            let name = attribute.name();
            for value in attribute.values().filter(|value| value.target == object) {
                let from = match value.initiator {
                    Initiator::None => String::new(),
                    Initiator::Cpuset(set) => format!(" from initiator {set}"),
                    Initiator::Object(object) => {
                        let os_index = object.os_index().map(|index| format!(" P#{index}"));
                        format!(" from initiator {}{}", title(object), os_index.unwrap_or_default())
                    }
                };
                self.put(&format!("memory attribute {name}{from}"), value.value);
            }
        }
    }
}
