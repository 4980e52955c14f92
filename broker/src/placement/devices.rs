//! Devices that ranks are mapped or bound to.

use super::error::PlacementError;
use super::objects::objects;
use super::policy::{DeviceMap, Devices};
use topobroker_layout::set::Set;
use topobroker_reader::{BusId, Object, ObjectType, OsDeviceKind, Topology, devices::NearTo};

/// The devices of each rank: in the order of their bus ids, or from the objects of a type in turn.
pub(super) fn groups<'a>(
    topology: Topology<'a>,
    map: &DeviceMap,
    option: &'static str,
) -> Result<Vec<Vec<Object<'a>>>, PlacementError> {
    let all = devices(topology, &map.devices, option)?;
    let all = match map.interleave {
        Some(kind) => interleaved(topology, &all, kind),
        None => all,
    };
    let groups: Vec<Vec<Object<'a>>> =
        all.chunks_exact(map.each.max(1)).map(<[_]>::to_vec).collect();
    match groups.is_empty() {
        true => {
            let device = map.devices.to_string();
            Err(PlacementError::FewDevices { device, found: all.len(), expected: map.each })
        }
        false => Ok(groups),
    }
}

fn devices<'a>(
    topology: Topology<'a>,
    wanted: &Devices,
    option: &'static str,
) -> Result<Vec<Object<'a>>, PlacementError> {
    let is_network = |it: Object<'a>| it.os_device_kind().is_some_and(OsDeviceKind::is_network);
    let os_devices = || topology.objects_with_type(ObjectType::OSDevice);
    let mut all: Vec<Object<'a>> = match wanted {
        Devices::Gpus => topology.gpus().collect(),
        Devices::Network => {
            let all = topology.objects_with_type(ObjectType::PCIDevice);
            all.filter(|pci| pci.io_children().any(is_network)).collect()
        }
        Devices::Block => {
            os_devices().filter(|it| it.os_device_kind() == Some(OsDeviceKind::Block)).collect()
        }
        Devices::Named(name) => {
            let is_at = |it: &Object<'a>| it.bus_id().is_some_and(|id| id.to_string() == *name);
            let is_it = |it: &Object<'a>| {
                it.device_name() == *name || it.gpu_uuid() == Some(name) || is_at(it)
            };
            let found = topology.gpus().chain(os_devices()).find(is_it);
            // Another interface to a GPU is that GPU.
            let gpu =
                found.and_then(Object::pci_device_above).and_then(|pci| pci.gpus_of_pci().next());
            let is_gpu = |it: &Object<'a>| topology.gpus().any(|gpu| gpu == *it);
            let of_gpu = found.filter(|it| !is_gpu(it)).and(gpu).filter(is_gpu);
            of_gpu.or(found).into_iter().collect()
        }
    };
    if all.is_empty() {
        let what = if *wanted == Devices::Gpus { "GPU" } else { "such device" };
        return Err(PlacementError::NoDevice { option, device: wanted.to_string(), what });
    }
    all.sort_by_key(|device| device.bus_id().unwrap_or(BusId::LAST));
    Ok(all)
}

/// One device of each object of a type in turn. Those that are inside none are one more group.
fn interleaved<'a>(
    topology: Topology<'a>,
    devices: &[Object<'a>],
    kind: ObjectType,
) -> Vec<Object<'a>> {
    let levels = objects(topology, kind);
    let level = |device: &Object<'a>| {
        let place = device.non_io_ancestor().cpuset().unwrap_or_default();
        let is_around = |it: &Object<'a>| {
            !place.is_empty() && it.cpuset().is_some_and(|set| place.is_included_in(&set))
        };
        levels.iter().position(is_around)
    };
    let levels_of: Vec<_> = devices.iter().map(level).collect();
    let mut order: Vec<(usize, usize, Object<'a>)> = Vec::with_capacity(devices.len());
    for (place, (device, level)) in devices.iter().zip(&levels_of).enumerate() {
        let earlier = levels_of.iter().take(place).filter(|it| *it == level).count();
        let first = levels_of.iter().position(|it| it == level).unwrap_or(place);
        order.push((earlier, first, *device));
    }
    order.sort_by_key(|(turn, first, _)| (*turn, *first));
    order.into_iter().map(|(_, _, device)| device).collect()
}

/// The PUs near all of some devices; all PUs if their place is not known, or has none.
pub(super) fn near(topology: Topology<'_>, devices: &[Object<'_>]) -> Set {
    let all = topology.root().cpuset().unwrap_or_default();
    let places = devices.iter().map(|device| device.non_io_ancestor());
    let place = places.reduce(|one, other| one.common_ancestor(other));
    let near = &place.and_then(Object::cpuset).unwrap_or_default() & &all;
    if near.is_empty() { all } else { near }
}

/// The GPU that each rank is given if it is mapped to these PUs, and the PUs near it.
pub(super) fn near_gpus<'a>(
    topology: Topology<'a>,
    mapped: &[Set],
) -> Result<Vec<(Object<'a>, Set)>, PlacementError> {
    let gpus = devices(topology, &Devices::Gpus, "--bind-to")?;
    let ranks: Vec<NearTo<'_, '_>> = mapped.iter().map(NearTo::Pus).collect();
    let given = topology.assign(&gpus, &ranks, 1).into_iter();
    Ok(given.map(|gpu| (gpu, near(topology, &[gpu]))).collect())
}
