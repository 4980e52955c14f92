//! Virtual functions of NICs.

use crate::object::Object;
use topobroker_layout::attributes::Pci;
use topobroker_layout::object_type::ObjectType;

/// The fact of a virtual function: the bus id of its physical function, as Linux tells it.
pub const PHYSICAL_FUNCTION: &str = "PhysicalFunction";

/// Ids of PCI devices that are virtual functions only, by vendor, for topologies without the fact.
const IDS: [(u16, &[u16]); 3] = [
    // NVIDIA (Mellanox): ConnectX-3 to 8 and BlueField.
    (0x15b3, &[0x1004, 0x1012, 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e, 0xa2d3]),
    // Intel: igb, ixgbe, i40e, ice.
    (0x8086, &[0x10ca, 0x10ed, 0x1515, 0x1520, 0x154c, 0x1565, 0x15a8, 0x15c5, 0x1889, 0x37cd]),
    // Broadcom: bnxt.
    (0x14e4, &[0x1606, 0x1609, 0x16c1, 0x16cb, 0x16d3, 0x16dc, 0x16e1, 0x16e5, 0x1806, 0x1807]),
];

/// Whether a device is of a virtual function whose physical function is in the topology. Without the fact, that is
/// taken to be another network device of the same vendor below the same bridge.
pub(super) fn has_physical_function(device: Object<'_>) -> bool {
    let Some(pci) = device.pci_device_above() else { return false };
    let all = || pci.topology().whole().objects_with_type(ObjectType::PCIDevice);
    if let Some(bus_id) = pci.fact(PHYSICAL_FUNCTION) {
        return all().any(|it| it.device_name() == bus_id);
    }
    let Some(own) = pci.pci_attributes().filter(is_virtual) else { return false };
    let siblings = pci.parent().into_iter().flat_map(Object::io_children);
    let attributes = siblings.filter_map(Object::pci_attributes).filter(|it| it.is_network());
    attributes.filter(|it| it.vendor_id == own.vendor_id).any(|it| !is_virtual(&it))
}

fn is_virtual(pci: &Pci) -> bool {
    let of_vendor = IDS.iter().find(|(vendor, _)| *vendor == pci.vendor_id);
    of_vendor.is_some_and(|(_, ids)| ids.contains(&pci.device_id))
}
