//! Attributes of an object, which depend on its type.

use super::Object;
use core::ops::Range;
use topobroker_layout::attributes::{Attributes, Bridge, BusId, OsDeviceKind, PageType, Pci};
use topobroker_layout::cluster::field::{Field, Property};
use topobroker_layout::column::{ArchivedColumn, partition_point};
use topobroker_layout::object_type::ObjectType;

impl<'a> Object<'a> {
    /// The attributes of the object's type. Counterpart: `attr`.
    #[must_use]
    pub fn attributes(self) -> Attributes {
        let archive = self.index.archive;
        let row = self.attribute_row();
        let own = |property, stored| self.number(property, 0, stored);
        match self.object_type() {
            ObjectType::NUMANode => {
                Attributes::NumaNode { local_memory: self.index.local_memory()(self.id()) }
            }
            ObjectType::Group => Attributes::Group(archive.groups.row(row, own)),
            ObjectType::Bridge => Attributes::Bridge(self.bridge(row)),
            ObjectType::PCIDevice => Attributes::Pci(self.pci(row)),
            ObjectType::OSDevice => Attributes::OsDevice {
                kind: OsDeviceKind::from_raw(archive.os_device_kind.get_u32(row)),
            },
            kind if kind.is_cache() || kind == ObjectType::MemCache => {
                Attributes::Cache(archive.caches.row(row, own))
            }
            _ => Attributes::None,
        }
    }

    /// OS index: the number that the operating system gave the object. Counterpart: `os_index`.
    #[must_use]
    #[inline]
    pub fn os_index(self) -> Option<u32> {
        match self.index.archive.objects.os_index.get(self.row()) {
            0 => None,
            1 => self.attributes().bus_id().map(BusId::os_index),
            plus_two => u32::try_from(plus_two - 2).ok(),
        }
    }

    /// Memory of the NUMA nodes below the object, in bytes; for a NUMA node, its own memory.
    /// Counterpart: `total_memory`.
    #[must_use]
    pub fn total_memory(self) -> u64 {
        let index = self.index;
        if index.overlay.is_some() || index.values.is_some() {
            let is_below =
                |node: &u32| index.is_visible(*node) && index.is_at_or_below(*node, self.id());
            let nodes = (index.first_special..index.end_of_nodes).filter(is_below);
            return nodes.map(index.local_memory()).fold(0, u64::saturating_add);
        }
        let table = &index.archive.total_memory;
        rows_of(&table.object, self.id()).next().map_or(0, |row| table.bytes.get(row))
    }

    /// Page types of a NUMA node, none for other objects. Counterpart: `page_types`.
    pub fn page_types(self) -> impl Iterator<Item = PageType> + 'a {
        let nodes = &self.index.archive.numa_nodes;
        let row = self.attribute_row();
        let rows = match self.object_type() {
            ObjectType::NUMANode => {
                nodes.page_type_start.get_u32(row)..nodes.page_type_start.get_u32(row + 1)
            }
            _ => 0..0,
        };
        rows.zip(0..).map(move |(row, place)| PageType {
            size: nodes.page_size.get(row as usize),
            count: self.number(Property::PAGE_COUNT, place, nodes.page_count.get(row as usize)),
        })
    }

    /// Whether a PCI device has this bus id.
    pub(crate) fn has_bus_id(self, bus_id: BusId) -> bool {
        if self.index.values.is_some() {
            return self.attributes().bus_id() == Some(bus_id);
        }
        let pci = &self.index.archive.pci;
        let row = self.attribute_row();
        let place = (u64::from(bus_id.dev) << 8) | u64::from(bus_id.func);
        pci.bus.get(row) == u64::from(bus_id.bus)
            && pci.dev_func.get(row) == place
            && pci.domain.get(row) == u64::from(bus_id.domain)
    }

    fn attribute_row(self) -> usize {
        let levels = &self.index.archive.levels;
        let level = self.index.base_level_of(self.id());
        levels.attribute_rows(level).row(self.id() - levels.first(level))
    }

    fn bridge(self, row: usize) -> Bridge {
        let archive = self.index.archive;
        let upstream = (archive.bridge_upstream.get_u32(row) as usize).checked_sub(1);
        let bridge = archive.bridges.row(row, |property, stored| self.number(property, 0, stored));
        Bridge { upstream: upstream.map(|row| self.pci(row)), ..bridge }
    }

    fn pci(self, row: usize) -> Pci {
        self.index.archive.pci.row(row, |property, stored| self.number(property, 0, stored))
    }

    /// A number of this object: the node's own, otherwise the stored one.
    fn number(self, property: Property, place: u32, stored: u64) -> u64 {
        self.index.number(|| Field::new(property, self.id(), place), stored)
    }
}

/// Rows of an object in a table that is sorted by object.
fn rows_of(objects: &ArchivedColumn, id: u32) -> Range<usize> {
    let count = u32::try_from(objects.len()).unwrap_or(u32::MAX);
    let first = partition_point(0..count, |row| objects.get(row as usize) < u64::from(id)) as usize;
    let mut end = first;
    while end < objects.len() && objects.get_u32(end) == id {
        end += 1;
    }
    first..end
}
