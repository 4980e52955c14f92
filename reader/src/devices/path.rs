//! What is between two devices.

use crate::object::Object;
use crate::topology::Topology;
use core::ops::Range;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::object_type::ObjectType;

/// What is between two devices, the least first. Counterpart: the words of `nvidia-smi topo -m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathClass {
    /// Nothing: they are one PCI device.
    Same,
    /// One PCI switch.
    Pix,
    /// Several PCI switches, but no host bridge.
    Pxb,
    /// A host bridge.
    Phb,
    /// Several host bridges of the same NUMA nodes.
    Node,
    /// What connects NUMA nodes.
    Sys,
}

impl<'a> Topology<'a> {
    /// What is between two devices. If the machine does not report the place of a device, it is
    /// taken to be far away.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// if let (Some(nic), Some(gpu)) = (topology.os_device("mlx5_0"), topology.os_device("cuda0")) {
    ///     println!("{:?}", topology.path_class(nic, gpu));
    /// }
    /// ```
    #[must_use]
    pub fn path_class(self, one: Object<'a>, other: Object<'a>) -> PathClass {
        let common = one.common_ancestor(other);
        let pci = one.pci_device_above();
        if one == other || (pci.is_some() && pci == other.pci_device_above()) {
            return PathClass::Same;
        }
        if let Attributes::Bridge(bridge) = common.attributes() {
            let between = |device: Object<'a>| {
                let below = device.ancestors().take_while(|it| *it != common);
                below.filter(|it| it.object_type() == ObjectType::Bridge).count()
            };
            // A switch is a bridge above, and one below for each device.
            return match (bridge.upstream, between(one).max(between(other))) {
                (None, _) => PathClass::Phb,
                (Some(_), 0 | 1) => PathClass::Pix,
                (Some(_), _) => PathClass::Pxb,
            };
        }
        // Devices below different caches of one NUMA node are near the same memory.
        let nodes = |device: Object<'a>| device.non_io_ancestor().nodeset();
        match nodes(one) == nodes(other) && self.has_place(one) {
            true => PathClass::Node,
            false => PathClass::Sys,
        }
    }

    /// Whether the machine reports to which PUs a device is local, in a view or not: a device of
    /// the root may be anywhere if there are several packages or NUMA nodes.
    pub(super) fn has_place(self, device: Object<'a>) -> bool {
        let whole = self.whole();
        let packages = whole.objects_with_type(ObjectType::Package);
        // Without memory from the heap, which the default NUMA nodes take: two nodes without common
        // PUs.
        let nodes = whole.objects_with_type(ObjectType::NUMANode).filter_map(Object::pus);
        let mut nodes = nodes.filter(|pus| !pus.is_empty());
        let first = nodes.next().unwrap_or_default();
        let is_apart = |pus: Range<u32>| pus.end <= first.start || first.end <= pus.start;
        Object::new(whole.index, device.id()).non_io_ancestor() != whole.root()
            || (packages.take(2).count() < 2 && !nodes.any(is_apart))
    }
}
