//! Prints one object on one line.

use super::Console;
use super::style::{Cpusets, Indexes};
use crate::output::in_line;
use topobroker_reader::text::{attributes, memory_size, pci_class_name};
use topobroker_reader::{Attributes, Depth, Object, ObjectType, Pci};

impl Console {
    /// Prints an object. `devices` is the number of PCI devices that it stands for.
    pub(super) fn object(&mut self, object: Object<'_>, devices: u32) {
        if self.style.cpusets == Cpusets::Alone {
            let cpuset = object.cpuset().map(|set| set.to_text(self.style.cpuset_format));
            self.text.push_str(&cpuset.unwrap_or_default());
            return;
        }
        let verbose = self.style.verbosity > 0;
        let indexes = self.style.indexes;
        let object_type = object.object_type();
        self.text.push_str(&object.type_name(verbose));
        if let Some(subtype) = object.subtype() {
            self.put(format_args!("({})", in_line(subtype)));
        }
        let in_tree = object_type.is_normal() || object_type.is_memory();
        if object.depth() != Depth::ROOT && (verbose || in_tree) {
            match (indexes, object.os_index()) {
                (Indexes::Physical, Some(os_index)) => self.put(format_args!(" P#{os_index}")),
                (Indexes::Physical, None) => {}
                _ => self.logical_index(object, devices),
            }
        }
        let names_itself = matches!(object_type, ObjectType::Misc | ObjectType::Group);
        if let Some(name) = object.name().filter(|_| names_itself) {
            self.put(format_args!(" {}", in_line(name)));
        }
        if let Attributes::Pci(pci) = object.attributes()
            && !verbose
        {
            let bus_id = self.bus_id(object, &pci, devices);
            let class = pci_class_name(pci.class_id);
            self.put(format_args!(" {bus_id} ({class})"));
        }
        self.details(object, devices);
        self.total_memory(object);
        let named = object_type == ObjectType::OSDevice || verbose;
        if let Some(name) = object.name().filter(|_| named && !names_itself) {
            self.put(format_args!(" \"{}\"", in_line(name)));
        }
        self.set(object);
    }

    fn logical_index(&mut self, object: Object<'_>, devices: u32) {
        let index = object.logical_index();
        if devices > 1 {
            self.put(format_args!(" L#{index}-{}", index + devices - 1));
        } else {
            self.put(format_args!(" L#{index}"));
        }
    }

    /// Prints OS index and attributes, in parentheses.
    fn details(&mut self, object: Object<'_>, devices: u32) {
        let verbose = self.style.verbosity > 0;
        let both = matches!(object.object_type(), ObjectType::PU | ObjectType::NUMANode);
        let mut details = Vec::new();
        if self.style.indexes == Indexes::Default && (verbose || both) {
            let collapsed = devices > 1;
            details.extend(object.os_index().map(|index| match collapsed {
                true => "P#[collapsed]".to_owned(),
                false => format!("P#{index}"),
            }));
        }
        details.extend(self.attributes(object, devices));
        if !details.is_empty() {
            self.put(format_args!(" ({})", in_line(&details.join(" "))));
        }
    }

    /// Prints the memory of the whole machine at the root, in the short form only.
    fn total_memory(&mut self, object: Object<'_>) {
        let total = object.total_memory();
        if self.style.verbosity == 0 && object.parent().is_none() && total != 0 {
            self.put(format_args!(" ({} total)", memory_size(total, false)));
        }
    }

    fn set(&mut self, object: Object<'_>) {
        let Some(cpuset) = object.cpuset() else {
            return;
        };
        if self.style.cpusets == Cpusets::Appended {
            let text = cpuset.to_text(self.style.cpuset_format);
            self.put(format_args!(" cpuset={text}"));
        }
        if self.style.verbosity == 0 {
            return;
        }
        let topology = object.topology();
        let allowed = match object.object_type() {
            ObjectType::PU => topology.allowed_cpuset(),
            ObjectType::NUMANode => topology.allowed_nodeset(),
            _ => return,
        };
        if object.os_index().is_some_and(|index| !allowed.contains(index)) {
            self.text.push_str(" (disallowed)");
        }
    }

    /// Attributes as hwloc writes them. Of an object that stands for several devices, the bus ids
    /// are those of all of them.
    fn attributes(&self, object: Object<'_>, devices: u32) -> Vec<String> {
        let mut details = attributes(object, self.style.verbosity > 0);
        if let (2.., Attributes::Pci(pci)) = (devices, object.attributes())
            && let Some(bus_id) = details.iter_mut().find(|detail| detail.starts_with("busid="))
        {
            *bus_id = format!("busid={}", self.bus_id(object, &pci, devices));
        }
        details
    }

    /// Bus id of a device; if it stands for several, the range of their bus ids.
    fn bus_id(&self, object: Object<'_>, pci: &Pci, devices: u32) -> String {
        let domain = if self.with_domain { format!("{:04x}:", pci.domain) } else { String::new() };
        let Pci { bus, dev, func, .. } = pci;
        let last = (1..devices).try_fold(object, |device, _| device.next_cousin());
        let Some(Attributes::Pci(last)) = last.map(Object::attributes).filter(|_| devices > 1)
        else {
            return format!("{domain}{bus:02x}:{dev:02x}.{func:01x}");
        };
        let own = format!("{domain}{bus:02x}:{dev:02x}.{func:01x}");
        match last.dev == *dev {
            true => format!("{own}-{:01x}", last.func),
            false => format!("{own}-{:02x}.{:01x}", last.dev, last.func),
        }
    }
}
