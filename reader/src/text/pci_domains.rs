//! Whether bus ids need their domain.

use crate::topology::Topology;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::object_type::ObjectType;

/// Whether any PCI device is outside domain 0, so that bus ids are printed with their domain.
/// Like lstopo, this looks at bridges only up to the first one without a PCI device upstream.
#[must_use]
pub fn has_pci_domains(topology: Topology<'_>) -> bool {
    let mut devices = topology.objects_with_type(ObjectType::PCIDevice);
    let mut bridges =
        topology.objects_with_type(ObjectType::Bridge).map_while(|bridge| {
            match bridge.attributes() {
                Attributes::Bridge(bridge) => bridge.upstream,
                _ => None,
            }
        });
    devices.any(|device| matches!(device.attributes(), Attributes::Pci(pci) if pci.domain != 0))
        || bridges.any(|upstream| upstream.domain != 0)
}
