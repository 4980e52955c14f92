//! Prints one object on one line.

use super::console::Console;
use super::pci_class::pci_class_name;
use super::style::Indexes;
use topobroker_reader::{Associativity, Attributes, Bridge, Depth, Object, ObjectType, Pci};

impl Console {
    /// Prints an object. `devices` is the number of PCI devices that it stands for.
    pub(super) fn object(&mut self, object: Object<'_>, devices: u32) {
        let verbose = self.style.verbosity > 0;
        let indexes = self.style.indexes;
        let object_type = object.object_type();
        self.text.push_str(&object.type_name(verbose));
        if let Some(subtype) = object.subtype() {
            self.put(format_args!("({subtype})"));
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
            self.put(format_args!(" {name}"));
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
            self.put(format_args!(" \"{name}\""));
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
        let attributes = if verbose {
            self.long_attributes(object, devices)
        } else {
            short_attributes(object).into_iter().collect()
        };
        details.extend(attributes);
        if !details.is_empty() {
            self.put(format_args!(" ({})", details.join(" ")));
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
        if self.style.cpusets {
            self.put(format_args!(" cpuset={cpuset}"));
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

    fn long_attributes(&self, object: Object<'_>, devices: u32) -> Vec<String> {
        let mut details = Vec::new();
        let total = object.total_memory();
        if total != 0 {
            if let Attributes::NumaNode { local_memory } = object.attributes() {
                details.push(format!("local={}", memory_size(local_memory, true)));
            }
            details.push(format!("total={}", memory_size(total, true)));
        }
        match object.attributes() {
            Attributes::Cache(cache) => {
                details.push(format!("size={}", memory_size(cache.size, true)));
                details.push(format!("linesize={}", cache.linesize));
                match cache.associativity {
                    Some(Associativity::Full) => details.push("fully-associative".to_owned()),
                    Some(Associativity::Ways(ways)) => details.push(format!("ways={ways}")),
                    None => {}
                }
            }
            Attributes::Pci(pci) => {
                let bus_id = match devices {
                    0 | 1 => pci.bus_id_text(),
                    _ => self.bus_id(object, &pci, devices),
                };
                details.extend(pci_attributes(&pci, &bus_id));
            }
            Attributes::Bridge(bridge) => details.extend(bridge_attributes(&bridge)),
            _ => {}
        }
        details.extend(object.infos().map(|info| {
            let quote = if info.value.contains(' ') { "\"" } else { "" };
            format!("{}={quote}{}{quote}", info.name, info.value)
        }));
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
        if last.dev == *dev {
            format!("{domain}{bus:02x}:{dev:02x}.{func:01x}-{:01x}", last.func)
        } else if last.bus == *bus {
            format!("{domain}{bus:02x}:{dev:02x}-{:02x}.{func:01x}", last.dev)
        } else {
            format!("{domain}{bus:02x}-{:02x}:{dev:02x}.{func:01x}", last.bus)
        }
    }
}

fn short_attributes(object: Object<'_>) -> Option<String> {
    match object.attributes() {
        Attributes::NumaNode { local_memory: 0 } => None,
        Attributes::NumaNode { local_memory } => Some(memory_size(local_memory, false)),
        Attributes::Cache(cache) => Some(memory_size(cache.size, false)),
        _ => None,
    }
}

fn pci_attributes(pci: &Pci, bus_id: &str) -> Vec<String> {
    let class = pci_class_name(pci.class_id);
    let mut details = vec![
        format!("busid={bus_id}"),
        format!("id={:04x}:{:04x}", pci.vendor_id, pci.device_id),
        format!("class={:04x}({class})", pci.class_id),
    ];
    if pci.linkspeed != 0.0 {
        details.push(format!("link={:.2}GB/s", pci.linkspeed));
    }
    details
}

fn bridge_attributes(bridge: &Bridge) -> Vec<String> {
    let upstream = bridge.upstream.as_ref();
    let mut details =
        upstream.map(|pci| pci_attributes(pci, &pci.bus_id_text())).unwrap_or_default();
    let (domain, first, last) =
        (bridge.downstream_domain, bridge.secondary_bus, bridge.subordinate_bus);
    details.push(format!("buses={domain:04x}:[{first:02x}-{last:02x}]"));
    details
}

/// A size with its unit, rounded as in hwloc: the long form is in kilobytes, the short form in a
/// unit that leaves at most five digits.
fn memory_size(bytes: u64, long: bool) -> String {
    let (shift, unit) = match bytes {
        _ if long => (10, "KB"),
        ..0x00a0_0000 => (10, "KB"),
        0x00a0_0000..0x2_8000_0000 => (20, "MB"),
        0x2_8000_0000..0xa00_0000_0000 => (30, "GB"),
        _ => (40, "TB"),
    };
    format!("{}{unit}", ((bytes >> (shift - 1)) + 1) >> 1)
}

#[cfg(test)]
mod tests {
    use super::memory_size;

    #[test]
    fn sizes_are_rounded_and_change_their_unit_at_ten_thousand() {
        for (bytes, text) in [
            (0, "0KB"),
            (32 << 10, "32KB"),
            ((10 << 20) - 1, "10240KB"),
            (10 << 20, "10MB"),
            (10 << 30, "10GB"),
            ((3 << 30) + (512 << 20), "3584MB"),
            (10 << 40, "10TB"),
        ] {
            assert_eq!(memory_size(bytes, false), text);
        }
        assert_eq!(memory_size(1 << 30, true), "1048576KB");
    }
}
