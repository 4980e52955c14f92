//! Links of the PCI tree, and what hangs on it.

use super::parts::{Parts, SwitchModel};
use crate::devices::{PciLink, is_cxi};
use crate::object::Object;
use alloc::vec::Vec;
use topobroker_layout::attributes::OsDeviceKind;
use topobroker_layout::links::{LinkClass, LinkOrigin, VertexId, VertexKind};
use topobroker_layout::object_type::ObjectType;

/// Adds host bridges, switches and devices.
pub(super) fn add(parts: &mut Parts<'_>, switches: SwitchModel) {
    let topology = parts.topology;
    for bridge in topology.objects_with_type(ObjectType::Bridge) {
        if parts.is_full() {
            break;
        }
        if bridge.host_bridge() == Some(bridge) {
            let own = parts.vertex(VertexKind::HostBridge, bridge);
            let cpus = parts.cpus(bridge.non_io_ancestor());
            parts.link(own, cpus, LinkClass::Cpu, LinkOrigin::Assumed);
        } else if bridge.is_pci_switch() {
            let own = parts.vertex(VertexKind::PciSwitch, bridge);
            connect(parts, bridge, own);
        }
    }
    let gpus: Vec<Object<'_>> = topology.gpus().collect();
    for pci in topology.objects_with_type(ObjectType::PCIDevice) {
        if parts.is_full() {
            break;
        }
        if pci.is_gpu_switch() {
            let own = parts.switch(switches, pci);
            if switches == SwitchModel::Separate {
                connect(parts, pci, own);
            }
            continue;
        }
        let own: Vec<Object<'_>> =
            gpus.iter().copied().filter(|it| it.pci_device_above() == Some(pci)).collect();
        let found = match own.is_empty() {
            false => own,
            true => device(pci).into_iter().collect(),
        };
        for object in found {
            let kind = kind_of(object);
            let vertex = parts.vertex(kind, object);
            connect(parts, pci, vertex);
            for other in pci.io_children().filter(|other| *other != object) {
                if parts.known(other).is_none() && !gpus.contains(&other) {
                    parts.also(other, vertex);
                }
            }
            if parts.known(pci).is_none() {
                parts.also(pci, vertex);
            }
        }
    }
}

/// What stands for a PCI device that is no GPU: its best NIC, or its first disk.
fn device(pci: Object<'_>) -> Option<Object<'_>> {
    let with = |kind| {
        let of_kind = pci.io_children().filter(|it| it.os_device_kind() == Some(kind));
        of_kind.min_by_key(|it| !is_cxi(*it))
    };
    let known = [OsDeviceKind::OpenFabrics, OsDeviceKind::Network, OsDeviceKind::Block];
    known.into_iter().find_map(with)
}

fn kind_of(object: Object<'_>) -> VertexKind {
    match object.os_device_kind() {
        Some(OsDeviceKind::OpenFabrics | OsDeviceKind::Network) => VertexKind::Nic,
        Some(OsDeviceKind::Block) => VertexKind::Block,
        _ => VertexKind::Gpu,
    }
}

/// Links a device or switch with the switch, host bridge or CPUs above it.
fn connect<'a>(parts: &mut Parts<'a>, object: Object<'a>, own: VertexId) {
    let bridge = object
        .ancestors()
        .find(|it| it.object_type() == ObjectType::Bridge && parts.known(*it).is_some());
    let above = bridge.and_then(|it| parts.known(it));
    let above = above.unwrap_or_else(|| parts.cpus(object.non_io_ancestor()));
    // The port of the bridge at the other end of the link.
    let port = object.parent().filter(|it| it.object_type() == ObjectType::Bridge);
    let maximum = |end: Object<'_>| end.pci_link().map(PciLink::mbytes_per_second);
    let greatest = match (maximum(object), port.and_then(maximum)) {
        (Some(own), port) => Some(own.min(port.unwrap_or(own))),
        (None, port) => port,
    };
    let now = current(object).or_else(|| port.and_then(current));
    let origin = if greatest.is_some() { LinkOrigin::Maximum } else { LinkOrigin::Current };
    if let Some(link) = parts.link(own, above, LinkClass::Pci, origin) {
        link.forward = greatest.or(now);
        link.backward = link.forward;
    }
}

/// The speed of the link of a PCI device or of the upstream side of a bridge, in MB/s.
fn current(object: Object<'_>) -> Option<u32> {
    let megabytes = object.pci_attributes()?.linkspeed * 1000.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    (megabytes > 0.0 && megabytes < 4e9).then_some((megabytes + 0.5) as u32)
}
