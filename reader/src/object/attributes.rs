//! What an object has by its type.

use super::Object;
use crate::topology::Topology;
use topobroker_layout::attributes::{Attributes, Bridge, Cache, Group, PageType, Pci};
use topobroker_layout::object_type::ObjectType;

impl<'a> Topology<'a> {
    /// Tells the memory of NUMA nodes themselves, in bytes, by their numbers.
    #[inline]
    pub(crate) fn local_memory(self) -> impl Fn(u32) -> u64 + use<'a> {
        let (rows, first) = (self.seen.rows_of_nodes, self.seen.first_special);
        move |node| self.seen.archive.numa_nodes.local_memory.get(rows.row(node - first))
    }
}

impl<'a> Object<'a> {
    /// What depends on the type. Counterpart: `attr`.
    #[must_use]
    pub fn attributes(self) -> Attributes {
        let archive = self.topology.seen.archive;
        let row = self.attribute_row();
        match self.object_type() {
            ObjectType::NUMANode => {
                Attributes::NumaNode { local_memory: archive.numa_nodes.local_memory.get(row) }
            }
            ObjectType::Group => Attributes::Group(Group {
                depth: archive.groups.depth.get_u32(row),
                kind: archive.groups.kind.get_u32(row),
                subkind: archive.groups.subkind.get_u32(row),
                dont_merge: archive.groups.dont_merge.get(row) != 0,
            }),
            ObjectType::Bridge => Attributes::Bridge(self.bridge(row)),
            ObjectType::PCIDevice => Attributes::Pci(self.pci(row)),
            ObjectType::OSDevice => {
                Attributes::OsDevice { kind: archive.os_device_kind.get_u32(row) }
            }
            kind if kind.is_cache() || kind == ObjectType::MemCache => Attributes::Cache(Cache {
                size: archive.caches.size.get(row),
                depth: archive.caches.depth.get_u32(row),
                linesize: archive.caches.linesize.get_u32(row),
                associativity: archive.caches.associativity.get_u32(row).cast_signed(),
                kind: archive.caches.kind.get_u32(row),
            }),
            _ => Attributes::None,
        }
    }

    /// Page types of a NUMA node, none of other objects. Counterpart: `page_types`.
    pub fn page_types(self) -> impl Iterator<Item = PageType> + 'a {
        let nodes = &self.topology.seen.archive.numa_nodes;
        let row = self.attribute_row();
        let rows = match self.object_type() {
            ObjectType::NUMANode => {
                nodes.page_type_start.get_u32(row)..nodes.page_type_start.get_u32(row + 1)
            }
            _ => 0..0,
        };
        rows.map(|row| PageType {
            size: nodes.page_size.get(row as usize),
            count: nodes.page_count.get(row as usize),
        })
    }

    /// The bus id of a PCI device or bridge in one number.
    pub(super) fn bus_id(self) -> Option<u32> {
        match self.attributes() {
            Attributes::Pci(pci) => Some(pci.bus_id()),
            Attributes::Bridge(bridge) => bridge.upstream.as_ref().map(Pci::bus_id),
            _ => None,
        }
    }

    /// Whether a PCI device has this bus id.
    pub(crate) fn has_pci_bus_id(self, domain: u32, bus: u8, device: u8, function: u8) -> bool {
        let pci = &self.topology.seen.archive.pci;
        let row = self.attribute_row();
        let place = (u64::from(device) << 8) | u64::from(function);
        pci.bus.get(row) == u64::from(bus)
            && pci.dev_func.get(row) == place
            && pci.domain.get(row) == u64::from(domain)
    }

    /// Whether this is a NUMA node.
    #[inline]
    pub(crate) fn is_numa_node(self) -> bool {
        let seen = self.topology.seen;
        (seen.first_special..seen.end_of_nodes).contains(&self.id)
    }

    fn attribute_row(self) -> usize {
        let levels = &self.topology.seen.archive.levels;
        let level = self.base_level();
        levels.attribute_rows(level).row(self.id - levels.first(level))
    }

    fn bridge(self, row: usize) -> Bridge {
        let bridges = &self.topology.seen.archive.bridges;
        let upstream = (bridges.upstream.get_u32(row) as usize).checked_sub(1);
        Bridge {
            upstream: upstream.map(|row| self.pci(row)),
            downstream_type: bridges.downstream_type.get_u32(row),
            downstream_domain: bridges.downstream_domain.get_u32(row),
            secondary_bus: low_byte(bridges.secondary_bus.get_u32(row)),
            subordinate_bus: low_byte(bridges.subordinate_bus.get_u32(row)),
            depth: bridges.depth.get_u32(row),
        }
    }

    fn pci(self, row: usize) -> Pci {
        let pci = &self.topology.seen.archive.pci;
        let [_, _, dev, func] = pci.dev_func.get_u32(row).to_be_bytes();
        let (subvendor_id, subdevice_id) = halves(pci.subsystem.get_u32(row));
        Pci {
            domain: pci.domain.get_u32(row),
            bus: low_byte(pci.bus.get_u32(row)),
            dev,
            func,
            class_id: halves(pci.class_id.get_u32(row)).1,
            vendor_id: halves(pci.vendor_id.get_u32(row)).1,
            device_id: halves(pci.device_id.get_u32(row)).1,
            subvendor_id,
            subdevice_id,
            revision: low_byte(pci.revision.get_u32(row)),
            linkspeed: f32::from_bits(pci.linkspeed.get_u32(row)),
        }
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
