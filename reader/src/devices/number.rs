//! The numbers of devices of a topology: OS devices first, then PCI devices, which stand for GPUs
//! without OS devices.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;

/// The number by which a job stores a device: first the OS devices of its topology are numbered, by
/// logical index, then the PCI devices. `None` for an object of another type.
///
/// ```no_run
/// use topobroker_reader::{Depth, devices::device_number};
/// let topology = topobroker_reader::adopt()?.topology();
/// let first = topology.objects_at_depth(Depth::OsDevice).next();
/// assert!(first.is_none_or(|device| device_number(device) == Some(0)));
/// # Ok::<(), topobroker_reader::AdoptError>(())
/// ```
#[must_use]
pub fn device_number(device: Object<'_>) -> Option<u32> {
    let before = match device.object_type() {
        ObjectType::OSDevice => 0,
        ObjectType::PCIDevice => os_devices(device.topology()),
        _ => return None,
    };
    Some(device.logical_index().saturating_add(before))
}

/// The device with a number.
pub(crate) fn device_of_number(topology: Topology<'_>, number: u32) -> Option<Object<'_>> {
    match number.checked_sub(os_devices(topology)) {
        None => topology.object_at_depth(Depth::OsDevice, number),
        Some(number) => topology.object_at_depth(Depth::PciDevice, number),
    }
}

fn os_devices(topology: Topology<'_>) -> u32 {
    u32::try_from(topology.objects_at_depth(Depth::OsDevice).len()).unwrap_or(u32::MAX)
}
