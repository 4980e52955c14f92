//! PMIx's distances of devices: PMIx 7, which measures each PU.

use super::distances::{DeviceDistance, PmixDepths};
use super::kinds::DeviceKinds;
use crate::object::Object;
use crate::topology::Topology;
use alloc::vec::Vec;
use topobroker_layout::attributes::{Attributes, OsDeviceKind};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

/// Programming interfaces of GPUs that PMIx knows.
const BACKENDS: &str = "CUDA NVML RSMI LevelZero OpenCL";

impl<'a> Topology<'a> {
    /// Distances of devices from a process that is bound to a set, by the rule of PMIx 7: of each
    /// PU by itself, so that `min` and `max` may differ. Each PCI device is there once, under its
    /// most useful name, and they are in the order of bus ids. Devices without an id are left out.
    /// A GPU is of kind [`DeviceKinds::GPU`] or [`DeviceKinds::CO_PROCESSOR`], and found by both.
    /// Counterpart: `PMIx_Compute_distances`.
    ///
    /// If no object below the root has all of the set, each distance is unknown, and PMIx fails.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::devices::DeviceKinds;
    /// for it in topology.device_distances_pmix7(&[0, 1].into_iter().collect(), DeviceKinds::ALL) {
    ///     println!("{}: {} to {}", it.device.name().unwrap_or_default(), it.min, it.max);
    /// }
    /// ```
    #[doc(alias = "PMIx_Compute_distances")]
    #[must_use]
    pub fn device_distances_pmix7(self, set: &Set, kinds: DeviceKinds) -> Vec<DeviceDistance<'a>> {
        let depths = PmixDepths::new(self);
        // Only PUs of the topology are measured.
        let is_bound = |pu: &Object<'a>| pu.os_index().is_some_and(|index| set.contains(index));
        let pus = self.objects_with_type(ObjectType::PU);
        let pus: Set = pus.filter(is_bound).filter_map(Object::os_index).collect();
        let is_measured = !pus.is_empty() && depths.covering(set).is_some();
        let distance = |(device, kind): (Object<'a>, DeviceKinds)| {
            let (min, max) = match is_measured {
                true => depths.of_pus(&pus, device.non_io_ancestor()),
                false => (DeviceDistance::UNKNOWN, DeviceDistance::UNKNOWN),
            };
            DeviceDistance { device, kind, min, max }
        };
        self.pmix7_devices(kinds).into_iter().map(distance).collect()
    }

    /// One OS device of each PCI device, in the order of bus ids.
    fn pmix7_devices(self, kinds: DeviceKinds) -> Vec<(Object<'a>, DeviceKinds)> {
        let gpus = DeviceKinds::GPU | DeviceKinds::CO_PROCESSOR;
        let mut found: Vec<(Object<'a>, DeviceKinds)> = Vec::new();
        for device in self.objects_with_type(ObjectType::OSDevice) {
            let kind = device.os_device_kind().and_then(DeviceKinds::of);
            let Some(kind) = kind else { continue };
            let matched = if gpus.has(kind) { gpus } else { kind };
            if !kinds.has_some(matched) || (gpus.has(kind) && !is_gpu(device)) {
                continue;
            }
            let pci = function(device);
            let same = found.iter_mut().find(|(it, _)| pci.is_some() && function(*it) == pci);
            match same {
                Some(known) if merit(device) > merit(known.0) => *known = (device, kind),
                Some(_) => {}
                None => found.push((device, kind)),
            }
        }
        found.retain(|(device, _)| device.pmix_device_id("").is_some());
        // In the order of bus ids, then of names: no two have the same. Sorting would be more code
        // in every process than a search for the next one.
        let key = |device: Object<'a>| {
            let id = function(device).and_then(|_| device.bus_id());
            (id.is_none(), id, if id.is_some() { None } else { device.name() }, device.id())
        };
        let after = |last| {
            let later = found.iter().filter(move |(it, _)| last < Some(key(*it)));
            later.min_by_key(|(it, _)| key(*it)).copied()
        };
        core::iter::successors(after(None), |(it, _)| after(Some(key(*it)))).collect()
    }
}

impl<'a> PmixDepths<'a> {
    /// The least and the greatest distance of PUs from a device that is attached to an object.
    fn of_pus(self, pus: &Set, local: Object<'a>) -> (u16, u16) {
        let chain = || core::iter::once(local).chain(local.ancestors());
        let distance = |found: Option<Object<'a>>| match found {
            Some(found) if found != self.topology.root() => {
                self.count.saturating_sub(self.of(found))
            }
            // The depth of PUs is the last one.
            _ => (2 * self.count).saturating_sub(1),
        };
        let has_some = |object: &Object<'a>| self.is_in_pmix(*object) && object.intersects(pus);
        let has_all = |object: &Object<'a>| self.is_in_pmix(*object) && object.covers(pus);
        (distance(chain().find(has_some)), distance(chain().find(has_all)))
    }
}

/// Whether a device of a GPU is there for more than a display: its PCI device has a programming
/// interface, or is a display controller with a render node.
fn is_gpu(device: Object<'_>) -> bool {
    let Some(pci) = function(device) else { return has_backend(device) };
    let is_display = matches!(pci.attributes(), Attributes::Pci(pci) if pci.is_display());
    pci.io_children().any(has_backend) || (is_display && pci.io_children().any(is_render_node))
}

/// The PCI device of an OS device, if PMIx's topology has it.
fn function(device: Object<'_>) -> Option<Object<'_>> {
    device
        .pci_device_above()
        .filter(|it| matches!(it.attributes(), Attributes::Pci(pci) if pci.is_important()))
}

/// How useful the name of an OS device is among those of a PCI device.
fn merit(device: Object<'_>) -> u8 {
    let is_fabric = device.os_device_kind() == Some(OsDeviceKind::OpenFabrics);
    match () {
        () if has_backend(device) => 2,
        () if is_fabric || is_render_node(device) => 1,
        () => 0,
    }
}

fn has_backend(device: Object<'_>) -> bool {
    let is_coprocessor = device.os_device_kind() == Some(OsDeviceKind::CoProcessor);
    let backend = device.info("Backend");
    is_coprocessor
        || backend.is_some_and(|it| BACKENDS.split(' ').any(|known| known.eq_ignore_ascii_case(it)))
}

fn is_render_node(device: Object<'_>) -> bool {
    device.name().is_some_and(|name| name.starts_with("renderD"))
}
