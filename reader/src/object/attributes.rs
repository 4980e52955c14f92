//! Attributes of an object, which depend on its type.

use super::object::Object;
use core::ops::Range;
use topobroker_layout::attributes::{
    Associativity, Attributes, Bridge, Cache, CacheKind, Group, OsDeviceKind, PageType, Pci,
};
use topobroker_layout::cluster::field::{Field, Property};
use topobroker_layout::column::{ArchivedColumn, partition_point};
use topobroker_layout::object_type::ObjectType;

impl<'a> Object<'a> {
    /// The attributes of the object's type. Counterpart: `attr`.
    #[must_use]
    pub fn attributes(self) -> Attributes {
        let archive = self.index.archive;
        let row = self.attribute_row();
        match self.object_type() {
            ObjectType::NUMANode => {
                Attributes::NumaNode { local_memory: self.index.local_memory()(self.id()) }
            }
            ObjectType::Group => Attributes::Group(Group {
                depth: archive.groups.depth.get_u32(row),
                kind: archive.groups.kind.get_u32(row),
                subkind: archive.groups.subkind.get_u32(row),
                dont_merge: archive.groups.dont_merge.get(row) != 0,
            }),
            ObjectType::Bridge => Attributes::Bridge(self.bridge(row)),
            ObjectType::PCIDevice => Attributes::Pci(self.pci(row)),
            ObjectType::OSDevice => Attributes::OsDevice {
                kind: OsDeviceKind::from_raw(archive.os_device_kind.get_u32(row)),
            },
            kind if kind.is_cache() || kind == ObjectType::MemCache => Attributes::Cache(Cache {
                size: archive.caches.size.get(row),
                depth: archive.caches.depth.get_u32(row),
                linesize: archive.caches.linesize.get_u32(row),
                associativity: Associativity::from_raw(
                    archive.caches.associativity.get_u32(row).cast_signed(),
                ),
                kind: CacheKind::from_raw(archive.caches.kind.get_u32(row)),
            }),
            _ => Attributes::None,
        }
    }

    /// OS index: the number that the operating system gave the object. Counterpart: `os_index`.
    #[must_use]
    #[inline]
    pub fn os_index(self) -> Option<u32> {
        match self.index.archive.objects.os_index.get(self.row()) {
            0 => None,
            1 => self.bus_id(),
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
            count: self.number(Property::PageCount, place, nodes.page_count.get(row as usize)),
        })
    }

    /// The bus id of a PCI device or bridge as one number.
    fn bus_id(self) -> Option<u32> {
        match self.attributes() {
            Attributes::Pci(pci) => Some(pci.bus_id()),
            Attributes::Bridge(bridge) => bridge.upstream.as_ref().map(Pci::bus_id),
            _ => None,
        }
    }

    /// Whether a PCI device has this bus id.
    pub(crate) fn has_pci_bus_id(self, domain: u32, bus: u8, device: u8, function: u8) -> bool {
        if self.index.values.is_some() {
            let Attributes::Pci(pci) = self.attributes() else { return false };
            return (pci.domain, pci.bus, pci.dev, pci.func) == (domain, bus, device, function);
        }
        let pci = &self.index.archive.pci;
        let row = self.attribute_row();
        let place = (u64::from(device) << 8) | u64::from(function);
        pci.bus.get(row) == u64::from(bus)
            && pci.dev_func.get(row) == place
            && pci.domain.get(row) == u64::from(domain)
    }

    fn attribute_row(self) -> usize {
        let levels = &self.index.archive.levels;
        let level = self.index.base_level_of(self.id());
        levels.attribute_rows(level).row(self.id() - levels.first(level))
    }

    fn bridge(self, row: usize) -> Bridge {
        let bridges = &self.index.archive.bridges;
        let upstream = (bridges.upstream.get_u32(row) as usize).checked_sub(1);
        Bridge {
            upstream: upstream.map(|row| self.pci(row)),
            downstream_type: bridges.downstream_type.get_u32(row),
            downstream_domain: self
                .small(Property::BridgeDomain, bridges.downstream_domain.get_u32(row)),
            secondary_bus: low_byte(
                self.small(Property::BridgeSecondaryBus, bridges.secondary_bus.get_u32(row)),
            ),
            subordinate_bus: low_byte(
                self.small(Property::BridgeSubordinateBus, bridges.subordinate_bus.get_u32(row)),
            ),
            depth: bridges.depth.get_u32(row),
        }
    }

    fn pci(self, row: usize) -> Pci {
        let pci = &self.index.archive.pci;
        let own = |property, column: &ArchivedColumn| self.small(property, column.get_u32(row));
        let [_, _, dev, func] = own(Property::PciDeviceFunction, &pci.dev_func).to_be_bytes();
        let (subvendor_id, subdevice_id) = halves(own(Property::PciSubsystem, &pci.subsystem));
        Pci {
            domain: own(Property::PciDomain, &pci.domain),
            bus: low_byte(own(Property::PciBus, &pci.bus)),
            dev,
            func,
            class_id: halves(pci.class_id.get_u32(row)).1,
            vendor_id: halves(own(Property::PciVendor, &pci.vendor_id)).1,
            device_id: halves(own(Property::PciDevice, &pci.device_id)).1,
            subvendor_id,
            subdevice_id,
            revision: low_byte(own(Property::PciRevision, &pci.revision)),
            linkspeed: f32::from_bits(own(Property::PciLinkSpeed, &pci.linkspeed)),
        }
    }

    /// A number of this object: the node's own, else the stored one.
    fn number(self, property: Property, place: u32, stored: u64) -> u64 {
        self.index.number(|| Field::new(property, self.id(), place), stored)
    }

    fn small(self, property: Property, stored: u32) -> u32 {
        let own = self.number(property, 0, stored.into());
        u32::try_from(own).unwrap_or(stored)
    }
}

fn halves(pair: u32) -> (u16, u16) {
    let [a, b, c, d] = pair.to_be_bytes();
    (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
}

fn low_byte(value: u32) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
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
