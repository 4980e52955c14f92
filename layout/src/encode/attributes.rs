//! Encodes attributes, in one table for each kind. A level whose objects have equal attributes has
//! one row for all.

use crate::archive::{Bridges, Caches, Groups, NumaNodes, PciTable};
use crate::attributes::{
    Associativity, Attributes, Bridge, Cache, Group, OsDeviceKind, PageType, Pci,
};
use crate::column::Column;
use crate::description::Object;
use alloc::vec;
use alloc::vec::Vec;

/// The tables of attributes. `first` and `stride` tell where the rows of each level are: at
/// `first + stride * logical index`.
pub(super) struct Packed {
    pub(super) first: Column,
    pub(super) stride: Column,
    pub(super) caches: Caches,
    pub(super) numa_nodes: NumaNodes,
    pub(super) groups: Groups,
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
    let (bridges, pci) = bridges_and_pci(&rows.bridges, rows.pci);
    Packed {
        first: Column::pack(&first),
        stride: Column::pack(&stride),
        caches: caches(&rows.caches),
        numa_nodes: numa_nodes(&rows.numa_nodes),
        groups: groups(&rows.groups),
        bridges,
        pci,
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

fn caches(rows: &[Cache]) -> Caches {
    Caches {
        size: column(rows, |cache| cache.size),
        depth: column(rows, |cache| u64::from(cache.depth)),
        linesize: column(rows, |cache| u64::from(cache.linesize)),
        associativity: column(rows, |cache| {
            u64::from(Associativity::raw(cache.associativity).cast_unsigned())
        }),
        kind: column(rows, |cache| u64::from(cache.kind.raw())),
    }
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

fn groups(rows: &[Group]) -> Groups {
    Groups {
        depth: column(rows, |group| u64::from(group.depth)),
        kind: column(rows, |group| u64::from(group.kind)),
        subkind: column(rows, |group| u64::from(group.subkind)),
        dont_merge: column(rows, |group| u64::from(group.dont_merge)),
    }
}

fn bridges_and_pci(rows: &[Bridge], mut pci: Vec<Pci>) -> (Bridges, PciTable) {
    let mut upstream = Vec::new();
    for bridge in rows {
        pci.extend(bridge.upstream);
        upstream.push(bridge.upstream.map_or(0, |_| pci.len() as u64));
    }
    let bridges = Bridges {
        upstream: Column::pack(&upstream),
        downstream_type: column(rows, |bridge| u64::from(bridge.downstream_type)),
        downstream_domain: column(rows, |bridge| u64::from(bridge.downstream_domain)),
        secondary_bus: column(rows, |bridge| u64::from(bridge.secondary_bus)),
        subordinate_bus: column(rows, |bridge| u64::from(bridge.subordinate_bus)),
        depth: column(rows, |bridge| u64::from(bridge.depth)),
    };
    (bridges, pci_table(&pci))
}

fn pci_table(rows: &[Pci]) -> PciTable {
    let pair = |high: u16, low: u16| (u64::from(high) << 16) | u64::from(low);
    PciTable {
        domain: column(rows, |pci| u64::from(pci.domain)),
        bus: column(rows, |pci| u64::from(pci.bus)),
        dev_func: column(rows, |pci| u64::from(u16::from_be_bytes([pci.dev, pci.func]))),
        class_id: column(rows, |pci| u64::from(pci.class_id)),
        vendor_id: column(rows, |pci| u64::from(pci.vendor_id)),
        device_id: column(rows, |pci| u64::from(pci.device_id)),
        subsystem: column(rows, |pci| pair(pci.subvendor_id, pci.subdevice_id)),
        revision: column(rows, |pci| u64::from(pci.revision)),
        linkspeed: column(rows, |pci| u64::from(pci.linkspeed.to_bits())),
    }
}
