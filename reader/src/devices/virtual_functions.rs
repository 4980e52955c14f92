//! Virtual functions of NICs.

use crate::object::Object;
use topobroker_layout::attributes::Pci;
use topobroker_layout::object_type::ObjectType;

/// The fact of a virtual function: the bus id of its physical function, as Linux reports it.
pub const PHYSICAL_FUNCTION: &str = "PhysicalFunction";

/// Ids of PCI devices that are virtual functions only, for topologies without the fact. They are
/// one number each, so that the table has no pointer, which every process would have to relocate.
const IDS: [u32; 28] = {
    const fn of(vendor: u32, device: u32) -> u32 {
        vendor << 16 | device
    }
    const NVIDIA: u32 = 0x15b3;
    const INTEL: u32 = 0x8086;
    const BROADCOM: u32 = 0x14e4;
    [
        // ConnectX-3 to 8 and BlueField.
        of(NVIDIA, 0x1004),
        of(NVIDIA, 0x1012),
        of(NVIDIA, 0x1014),
        of(NVIDIA, 0x1016),
        of(NVIDIA, 0x1018),
        of(NVIDIA, 0x101a),
        of(NVIDIA, 0x101c),
        of(NVIDIA, 0x101e),
        of(NVIDIA, 0xa2d3),
        // igb, ixgbe, i40e, ice.
        of(INTEL, 0x10ca),
        of(INTEL, 0x10ed),
        of(INTEL, 0x1515),
        of(INTEL, 0x1520),
        of(INTEL, 0x154c),
        of(INTEL, 0x1565),
        of(INTEL, 0x15a8),
        of(INTEL, 0x15c5),
        of(INTEL, 0x1889),
        of(INTEL, 0x37cd),
        // bnxt.
        of(BROADCOM, 0x1606),
        of(BROADCOM, 0x1609),
        of(BROADCOM, 0x16c1),
        of(BROADCOM, 0x16cb),
        of(BROADCOM, 0x16d3),
        of(BROADCOM, 0x16dc),
        of(BROADCOM, 0x16e1),
        of(BROADCOM, 0x16e5),
        of(BROADCOM, 0x1806),
    ]
};

/// Whether a device is of a virtual function whose physical function is in the topology. Without
/// the fact, that is taken to be another network device of the same vendor below the same bridge.
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
    IDS.contains(&(u32::from(pci.vendor_id) << 16 | u32::from(pci.device_id)))
}
