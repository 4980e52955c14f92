//! Collapses runs of identical PCI devices, which are printed as one.

use std::collections::HashMap;
use topobroker_reader::{Attributes, Object, ObjectType, Pci, Topology};

/// The PCI devices that are in a run of identical ones. `devices` maps the number of the first to
/// the length of its run, and the numbers of the others to `None`.
pub(super) struct Collapse {
    devices: HashMap<u32, Option<u32>>,
}

impl Collapse {
    pub(super) fn new(topology: Topology<'_>, enabled: bool) -> Self {
        let mut collapse = Self { devices: HashMap::new() };
        if enabled {
            collapse.find(topology);
        }
        collapse
    }

    /// The number of devices that an object stands for: 0 if it is not in a run, `None` if another
    /// device stands for it.
    pub(super) fn of(&self, object: Object<'_>) -> Option<u32> {
        self.devices.get(&object.id()).copied().unwrap_or(Some(0))
    }

    fn find(&mut self, topology: Topology<'_>) {
        let mut run: Vec<Object<'_>> = Vec::new();
        for device in topology.objects_with_type(ObjectType::PCIDevice) {
            let leaf = device.io_children().len() == 0 && device.misc_children().len() == 0;
            if leaf && run.first().is_some_and(|first| are_alike(*first, device)) {
                run.push(device);
                continue;
            }
            // As in lstopo, a device that is not a leaf ends a run of several devices, but not a
            // run of one.
            if run.len() > 1 || leaf {
                self.end_run(&run);
                run.clear();
            }
            if leaf {
                run.push(device);
            }
        }
        self.end_run(&run);
    }

    fn end_run(&mut self, run: &[Object<'_>]) {
        let [first, others @ ..] = run else { return };
        if others.is_empty() {
            return;
        }
        self.devices.insert(first.id(), u32::try_from(run.len()).ok());
        self.devices.extend(others.iter().map(|device| (device.id(), None)));
    }
}

fn are_alike(first: Object<'_>, second: Object<'_>) -> bool {
    let ids = |object: Object<'_>| match object.attributes() {
        Attributes::Pci(Pci { vendor_id, device_id, subvendor_id, subdevice_id, .. }) => {
            Some((vendor_id, device_id, subvendor_id, subdevice_id))
        }
        _ => None,
    };
    first.parent() == second.parent() && ids(first) == ids(second)
}
