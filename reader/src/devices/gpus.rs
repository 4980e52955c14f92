//! The GPUs that ranks may be given: one of each, though a GPU is several OS devices.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::attributes::{Attributes, OsDeviceKind};
use topobroker_layout::object_type::ObjectType;

/// Subtypes of OS devices by which programs compute on GPUs, the best first.
const BACKENDS: &str = "CUDA NVML RSMI AMDSMI LevelZero OpenCL";

/// PCI classes of controllers for three-dimensional graphics without a display, and of what
/// computes.
const COMPUTES: [u16; 2] = [0x0302, 0x1200];

impl<'a> Topology<'a> {
    /// The GPUs, in logical order. A GPU is several OS devices: this is the one of the best
    /// programming interface. If that has several, as of a partitioned GPU, each is one. A GPU that
    /// only the driver knows is a PCI device.
    ///
    /// If no programming interface is known of any PCI device of the node, the GPUs are the PCI
    /// devices that only compute (classes 0302 and 1200). OS devices whose PCI device hwloc does
    /// not find (OpenCL on NVIDIA), count only if no other GPU was found; otherwise they would be
    /// counted twice.
    pub fn gpus(self) -> impl Iterator<Item = Object<'a>> {
        let pci_devices = move || self.objects_with_type(ObjectType::PCIDevice);
        let by_driver = move || pci_devices().filter(|pci| is_known_to_driver(*pci));
        let computes = move || {
            let class = |pci: &Object<'a>| pci.pci_attributes().map_or(0, |it| it.class_id);
            pci_devices().filter(move |pci| COMPUTES.contains(&class(pci)))
        };
        let is_known = self.gpus_on_pci().next().is_some() || by_driver().next().is_some();
        let is_alone = !is_known && computes().next().is_none();
        let by_class = (!is_known).then(computes).into_iter().flatten();
        let off_pci = is_alone.then(|| self.gpus_off_pci()).into_iter().flatten();
        self.gpus_on_pci().chain(by_driver()).chain(by_class).chain(off_pci)
    }

    /// The OS devices of GPUs whose PCI device is known: of each those of the best interface.
    fn gpus_on_pci(self) -> impl Iterator<Item = Object<'a>> {
        let is_best = |device: &Object<'a>| {
            let Some(own) = backend(*device) else { return false };
            let is_worse = |other: Object<'a>| backend(other).is_none_or(|other| other >= own);
            device.pci_device_above().is_some_and(|pci| pci.io_children().all(is_worse))
        };
        self.objects_with_type(ObjectType::OSDevice).filter(is_best)
    }

    /// The OS devices of GPUs whose PCI device is not known, of the best interface of all.
    fn gpus_off_pci(self) -> impl Iterator<Item = Object<'a>> {
        let devices = move || {
            let all = self.objects_with_type(ObjectType::OSDevice);
            all.filter(|device| device.pci_device_above().is_none())
        };
        let best = devices().filter_map(backend).min();
        devices().filter(move |device| best.is_some() && backend(*device) == best)
    }
}

impl<'a> Object<'a> {
    /// The UUIDs of the instances of a GPU that NVIDIA's MIG parts; none if it is whole.
    pub fn mig_instances(self) -> impl Iterator<Item = &'a str> {
        let listed = self.pci_device_above().and_then(|pci| pci.fact("MIGInstances"));
        listed.into_iter().flat_map(|listed| listed.split(','))
    }

    /// The GPUs of a PCI device: several if it is partitioned (AMD), or each tile is one (Level
    /// Zero, FLAT).
    pub fn gpus_of_pci(self) -> impl Iterator<Item = Self> {
        let gpus = move |device: &Self| {
            let best = self.io_children().filter_map(backend).min();
            best.is_some() && backend(*device) == best
        };
        self.io_children().filter(gpus)
    }

    /// Number of tiles of a GPU that are no GPUs of their own (Level Zero, COMPOSITE); 0 if it has
    /// none.
    #[must_use]
    pub fn tiles(self) -> usize {
        self.io_children().filter(|it| it.object_type() == ObjectType::OSDevice).count()
    }
}

/// Whether the driver knows a PCI device as a GPU, and hwloc no programming interface of it.
fn is_known_to_driver(pci: Object<'_>) -> bool {
    pci.fact("NVMLNumber").is_some() && pci.io_children().all(|device| backend(device).is_none())
}

/// The place of an OS device of a GPU in the order of programming interfaces; `None` if it is not
/// of a GPU, or is only its display.
fn backend(device: Object<'_>) -> Option<usize> {
    let kind = device.os_device_kind()?;
    // A part of a GPU, such as a tile, is below the OS device of the GPU.
    let is_part = device.parent().is_some_and(|it| it.object_type() == ObjectType::OSDevice);
    if is_part || !matches!(kind, OsDeviceKind::Gpu | OsDeviceKind::CoProcessor) {
        return None;
    }
    let subtype = device.subtype().or(device.info("Backend"));
    let place = BACKENDS.split(' ').position(|it| Some(it) == subtype);
    if device.info("OpenCLDeviceType").is_some_and(|it| it != "GPU") {
        return None;
    }
    place.or_else(|| {
        let Attributes::Pci(pci) = device.pci_device_above()?.attributes() else { return None };
        let is_render = device.name()?.starts_with("renderD");
        (is_render && pci.is_display() && !pci.is_service_display()).then_some(usize::MAX)
    })
}
