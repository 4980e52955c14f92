//! Encodes attributes, in one table for each kind. A level whose objects have equal attributes has
//! one row for all.

use crate::archive::NumaNodes;
use crate::attributes::{
    Attributes, Bridge, Bridges, Cache, Caches, Group, Groups, OsDeviceKind, PageType, Pci,
    PciTable,
};
use crate::column::Column;
use crate::description::Object;
use alloc::vec;
use alloc::vec::Vec;

/// The tables of attributes. `first` and `stride` say where the rows of each level are: at
/// `first + stride * logical index`.
pub(super) struct Packed {
    pub(super) first: Column,
    pub(super) stride: Column,
    pub(super) caches: Caches,
    pub(super) numa_nodes: NumaNodes,
    pub(super) groups: Groups,
    pub(super) bridge_upstream: Column,
    pub(super) bridges: Bridges,
    pub(super) pci: PciTable,
    pub(super) os_device_kind: Column,
}

#[derive(Default)]
struct Tables<'d> {
    caches: Vec<Cache>,
    numa_nodes: Vec<(u64, &'d [PageType])>,
    groups: Vec<Group>,
    bridges: Vec<Bridge>,
    pci: Vec<Pci>,
    os_devices: Vec<OsDeviceKind>,
}

pub(super) fn pack(by_id: &[&Object], level_first: &[u64]) -> Packed {
    let mut rows = Tables::default();
    let (mut first, mut stride) = (Vec::new(), Vec::new());
    for bounds in level_first.windows(2) {
        let &[start, end] = bounds else { continue };
        let range = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
        let level = by_id.get(range).unwrap_or_default();
        let alike = level.windows(2).all(|pair| match pair {
            [a, b] => a.attributes == b.attributes && a.page_types == b.page_types,
            _ => true,
        });
        first.push(level.first().map_or(0, |object| rows.next(&object.attributes)));
        stride.push(u64::from(!alike));
        let kept = if alike { 1 } else { level.len() };
        level.iter().take(kept).for_each(|object| rows.push(object));
    }
    let bridge_upstream = bridge_upstream(&rows.bridges, &mut rows.pci);
    Packed {
        first: Column::pack(&first),
        stride: Column::pack(&stride),
        caches: Caches::pack(&rows.caches),
        numa_nodes: numa_nodes(&rows.numa_nodes),
        groups: Groups::pack(&rows.groups),
        bridge_upstream,
        bridges: Bridges::pack(&rows.bridges),
        pci: PciTable::pack(&rows.pci),
        os_device_kind: column(&rows.os_devices, |kind| u64::from(kind.raw())),
    }
}

impl<'d> Tables<'d> {
    /// The next free row of the table for such attributes.
    fn next(&self, attributes: &Attributes) -> u64 {
        let length = match attributes {
            Attributes::None => 0,
            Attributes::Cache(_) => self.caches.len(),
            Attributes::NumaNode { .. } => self.numa_nodes.len(),
            Attributes::Group(_) => self.groups.len(),
            Attributes::Bridge(_) => self.bridges.len(),
            Attributes::Pci(_) => self.pci.len(),
            Attributes::OsDevice { .. } => self.os_devices.len(),
        };
        length as u64
    }

    fn push(&mut self, object: &'d Object) {
        match object.attributes {
            Attributes::None => {}
            Attributes::Cache(cache) => self.caches.push(cache),
            Attributes::NumaNode { local_memory } => {
                self.numa_nodes.push((local_memory, &object.page_types));
            }
            Attributes::Group(group) => self.groups.push(group),
            Attributes::Bridge(bridge) => self.bridges.push(bridge),
            Attributes::Pci(pci) => self.pci.push(pci),
            Attributes::OsDevice { kind } => self.os_devices.push(kind),
        }
    }
}

fn column<T>(rows: &[T], field: impl Fn(&T) -> u64) -> Column {
    Column::pack(&rows.iter().map(field).collect::<Vec<_>>())
}

fn numa_nodes(rows: &[(u64, &[PageType])]) -> NumaNodes {
    let mut start = vec![0];
    let mut pages: Vec<PageType> = Vec::new();
    for (_, page_types) in rows {
        pages.extend_from_slice(page_types);
        start.push(pages.len() as u64);
    }
    NumaNodes {
        local_memory: column(rows, |row| row.0),
        page_type_start: Column::pack(&start),
        page_size: column(&pages, |page| page.size),
        page_count: column(&pages, |page| page.count),
    }
}

/// The upstream sides of bridges, which follow the PCI devices.
fn bridge_upstream(rows: &[Bridge], pci: &mut Vec<Pci>) -> Column {
    let row_plus_one = |bridge: &Bridge| {
        pci.extend(bridge.upstream);
        bridge.upstream.map_or(0, |_| pci.len() as u64)
    };
    Column::pack(&rows.iter().map(row_plus_one).collect::<Vec<_>>())
}
