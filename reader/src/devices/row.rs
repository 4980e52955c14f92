//! The numbers of devices of a topology: OS devices first, then PCI devices, which stand for GPUs without
//! OS devices.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;

/// The number of an OS device or PCI device among all of its topology.
#[must_use]
pub fn device_row(device: Object<'_>) -> u32 {
    let before = match device.object_type() {
        ObjectType::PCIDevice => os_devices(device.topology()),
        _ => 0,
    };
    device.logical_index().saturating_add(before)
}

/// The device with a number.
pub(crate) fn device_of_row(topology: Topology<'_>, row: u32) -> Option<Object<'_>> {
    match row.checked_sub(os_devices(topology)) {
        None => topology.object_at_depth(Depth::OsDevice, row),
        Some(row) => topology.object_at_depth(Depth::PciDevice, row),
    }
}

fn os_devices(topology: Topology<'_>) -> u32 {
    u32::try_from(topology.objects_at_depth(Depth::OsDevice).len()).unwrap_or(u32::MAX)
}
