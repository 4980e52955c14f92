//! Ranks at devices: mapped to one in turn, or bound to the PUs near the GPU that they will be given.

use super::policy::Devices;
use topobroker_layout::set::Set;
use topobroker_reader::{BusId, Object, ObjectType, OsDeviceKind, Topology, devices::Beside};

/// Devices of a topology, in the order of their PCI bus ids, and the PUs near each of them.
pub(super) struct Placed<'a> {
    topology: Topology<'a>,
    all: Vec<Object<'a>>,
}

impl<'a> Placed<'a> {
    pub(super) fn of(topology: Topology<'a>, devices: &Devices) -> Self {
        let is_network = |it: Object<'a>| {
            let kind = it.os_device_kind();
            matches!(kind, Some(OsDeviceKind::Network | OsDeviceKind::OpenFabrics))
        };
        let mut all: Vec<Object<'a>> = match devices {
            Devices::Gpus => topology.gpus().collect(),
            Devices::Network => {
                let all = topology.objects_with_type(ObjectType::PCIDevice);
                all.filter(|pci| pci.io_children().any(is_network)).collect()
            }
            Devices::Block => {
                let all = topology.objects_with_type(ObjectType::OSDevice);
                all.filter(|it| it.os_device_kind() == Some(OsDeviceKind::Block)).collect()
            }
            Devices::Named(name) => {
                let is_it =
                    |it: &Object<'a>| it.device_name() == *name || it.gpu_uuid() == Some(name);
                let all = topology.objects_with_type(ObjectType::OSDevice).chain(topology.gpus());
                all.filter(is_it).take(1).collect()
            }
        };
        all.sort_by_key(|device| device.bus_id().unwrap_or(BusId::LAST));
        Self { topology, all }
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// For each of `count` ranks, the PUs near the device that is next in turn; all PUs if its place is not
    /// known. As in PRRTE, a device has no turn while as many ranks are on its PUs as these have cores,
    /// unless that is so of all.
    pub(super) fn in_turn(&self, count: usize) -> Vec<Set> {
        let near: Vec<Set> = self.all.iter().map(|device| self.near(*device)).collect();
        let cores = |set: &Set| {
            let all = self.topology.objects_with_type(ObjectType::Core);
            all.filter(|core| core.is_inside(set)).count()
        };
        // Of each device, the first one with the same PUs, which counts the ranks on them.
        let first_alike =
            |set: &Set| near.iter().position(|other| other == set).unwrap_or_default();
        let alike: Vec<usize> = near.iter().map(first_alike).collect();
        let mut room: Vec<usize> = near.iter().map(cores).collect();
        let (mut ranks, mut next): (Vec<Set>, usize) = (Vec::with_capacity(count), 0);
        let mut is_full = false;
        while ranks.len() < count && !near.is_empty() {
            let mut turns = (next..next + near.len()).map(|turn| turn % near.len());
            let has_room = |place: &usize| {
                alike.get(*place).and_then(|first| room.get(*first)).is_some_and(|room| *room > 0)
            };
            let free = if is_full { None } else { turns.find(has_room) };
            is_full = free.is_none();
            let place = free.unwrap_or(next % near.len());
            let counted = alike.get(place).and_then(|first| room.get_mut(*first));
            counted.into_iter().for_each(|room| *room = room.saturating_sub(1));
            ranks.extend(near.get(place).cloned());
            next = place + 1;
        }
        ranks
    }

    /// The PUs near the device that each rank will be given if it is mapped to these PUs.
    pub(super) fn near_those_of(&self, mapped: &[Set]) -> Vec<Set> {
        let ranks: Vec<Beside<'_, '_>> = mapped.iter().map(Beside::Pus).collect();
        let given = self.topology.assign(&self.all, &ranks, 1);
        given.into_iter().map(|device| self.near(device)).collect()
    }

    fn near(&self, device: Object<'a>) -> Set {
        let all = self.topology.root().cpuset().unwrap_or_default();
        let near = &device.non_io_ancestor().cpuset().unwrap_or_default() & &all;
        if near.is_empty() { all } else { near }
    }
}
