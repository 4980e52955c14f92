//! Objects by PCI bus id, by name of an OS device, or by any name.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::attributes::{Attributes, BusId};
use topobroker_layout::object_type::ObjectType;

impl<'a> Topology<'a> {
    /// The PCI device with a bus id. Counterpart: `hwloc_get_pcidev_by_busid`.
    #[doc(alias = "hwloc_get_pcidev_by_busid")]
    #[must_use]
    pub fn pci_device(self, bus_id: BusId) -> Option<Object<'a>> {
        let mut devices = self.objects_with_type(ObjectType::PCIDevice);
        devices.find(|object| object.has_bus_id(bus_id))
    }

    /// The PCI device with a bus id such as `0000:03:00.1` or, in domain 0, `03:00.1`.
    /// Counterpart: `hwloc_get_pcidev_by_busidstring`.
    #[doc(alias = "hwloc_get_pcidev_by_busidstring")]
    #[must_use]
    pub fn pci_device_by_bus_id(self, text: &str) -> Option<Object<'a>> {
        self.pci_device(BusId::parse(text)?)
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
