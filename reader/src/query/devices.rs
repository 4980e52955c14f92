//! Objects by PCI bus id, by name of an OS device, or by any name.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::object_type::ObjectType;

impl<'a> Topology<'a> {
    /// The PCI device with a bus id. Counterpart: `hwloc_get_pcidev_by_busid`.
    #[doc(alias = "hwloc_get_pcidev_by_busid")]
    #[must_use]
    pub fn pci_device(self, domain: u32, bus: u8, device: u8, function: u8) -> Option<Object<'a>> {
        let mut devices = self.objects_with_type(ObjectType::PCIDevice);
        devices.find(|object| object.has_pci_bus_id(domain, bus, device, function))
    }

    /// The PCI device with a bus id such as `0000:03:00.1` or, in domain 0, `03:00.1`.
    /// Counterpart: `hwloc_get_pcidev_by_busidstring`.
    #[doc(alias = "hwloc_get_pcidev_by_busidstring")]
    #[must_use]
    pub fn pci_device_by_bus_id(self, text: &str) -> Option<Object<'a>> {
        let (domain, bus, device, function) = parse_bus_id(text)?;
        self.pci_device(domain, bus, device, function)
    }

    /// The OS device with a name, such as `eth0`. Counterpart: a loop over `hwloc_get_next_osdev`.
    #[doc(alias = "hwloc_get_next_osdev")]
    #[must_use]
    pub fn os_device(self, name: &str) -> Option<Object<'a>> {
        let mut devices = self.objects_with_type(ObjectType::OSDevice);
        devices.find(|object| object.is_named(name))
    }

    /// Objects of any type with this name.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// let network = topology.objects_with_name("eth0").next();
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    pub fn objects_with_name(self, name: &str) -> impl Iterator<Item = Object<'a>> {
        self.objects().filter(move |object| object.is_named(name))
    }
}

impl Object<'_> {
    /// Whether a PCI bus is below this bridge. Counterpart: `hwloc_bridge_covers_pcibus`.
    #[doc(alias = "hwloc_bridge_covers_pcibus")]
    #[must_use]
    pub fn covers_pci_bus(self, domain: u32, bus: u8) -> bool {
        match self.attributes() {
            Attributes::Bridge(bridge) => {
                bridge.downstream_domain == domain
                    && (bridge.secondary_bus..=bridge.subordinate_bus).contains(&bus)
            }
            _ => false,
        }
    }
}

/// Parses a bus id: domain, bus, device and function, all hexadecimal.
fn parse_bus_id(text: &str) -> Option<(u32, u8, u8, u8)> {
    let (place, function) = text.split_once('.')?;
    let mut parts = place.rsplit(':');
    let (device, bus, domain) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let byte = |digits: &str| u8::from_str_radix(digits, 16).ok();
    let whole = parts.next().is_none();
    let domain = u32::from_str_radix(domain, 16).ok()?;
    whole.then_some((domain, byte(bus)?, byte(device)?, byte(function)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_id_may_leave_out_its_domain() {
        assert_eq!(parse_bus_id("0001:0a:1f.7"), Some((1, 10, 31, 7)));
        assert_eq!(parse_bus_id("0a:1f.7"), Some((0, 10, 31, 7)));
        for text in ["", "0a", "1f.7", "0:0:0:0.1", "0a:1f", "0a:100.1", "x:1f.7", ":1f.7"] {
            assert_eq!(parse_bus_id(text), None, "{text}");
        }
    }
}
