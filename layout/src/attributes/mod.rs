//! Attributes that only objects of some types have. Counterpart: `union hwloc_obj_attr_u`.

#[macro_use]
mod table;
mod bus_id;
mod cache;
mod group;
mod os_device;
mod page_type;
mod pci;
mod stored;
pub mod vendor;

pub use bus_id::BusId;
pub use cache::{ArchivedCaches, Associativity, Cache, CacheKind, Caches};
pub use group::{ArchivedGroups, Group, Groups};
pub use os_device::OsDeviceKind;
pub use page_type::PageType;
pub use pci::{ArchivedBridges, ArchivedPciTable, Bridge, Bridges, Pci, PciTable};
pub use stored::AttributeValue;

/// Attributes of an object, which depend on its type.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Attributes {
    /// The type has no attributes.
    #[default]
    None,
    /// Of a CPU cache or a memory-side cache.
    Cache(Cache),
    /// Of a NUMA node. Its page types are not here but in
    /// [`page_types`](crate::description::Object::page_types), because there may be many.
    NumaNode {
        /// Memory of the node, in bytes.
        local_memory: u64,
    },
    /// Of a group.
    Group(Group),
    /// Of a bridge.
    Bridge(Bridge),
    /// Of a PCI device.
    Pci(Pci),
    /// Of an OS device.
    OsDevice {
        /// Kind of the device.
        kind: OsDeviceKind,
    },
}

impl Attributes {
    /// The bus id of a PCI device, or of a bridge to PCI.
    #[must_use]
    pub fn bus_id(&self) -> Option<BusId> {
        match self {
            Self::Pci(pci) | Self::Bridge(Bridge { upstream: Some(pci), .. }) => Some(pci.bus_id()),
            _ => None,
        }
    }

    /// Hands each attribute to `visit`, with its name in hwloc. A PCI device also has its bus id,
    /// and a bridge to PCI what its upstream side has as a PCI device.
    ///
    /// ```
    /// use topobroker_layout::attributes::{Attributes, Cache, AttributeValue};
    /// let cache = Attributes::Cache(Cache { size: 1 << 20, depth: 2, ..Cache::default() });
    /// let mut names = Vec::new();
    /// cache.each(&mut |name, value| names.push((name, value)));
    /// assert_eq!(names[..2], [("size", AttributeValue::Number(1 << 20)), ("depth", AttributeValue::Number(2))]);
    /// assert_eq!(names[4], ("type", AttributeValue::Text("unified")));
    /// ```
    pub fn each(&self, visit: &mut dyn FnMut(&'static str, AttributeValue)) {
        match self {
            Self::None => {}
            Self::Cache(cache) => cache.each(visit),
            Self::NumaNode { local_memory } => visit("local_memory", (*local_memory).into()),
            Self::Group(group) => group.each(visit),
            Self::Bridge(bridge) => {
                if let Some(pci) = &bridge.upstream {
                    Self::Pci(*pci).each(visit);
                }
                bridge.each(visit);
            }
            Self::Pci(pci) => {
                visit("bus_id", AttributeValue::BusId(pci.bus_id()));
                pci.each(visit);
            }
            Self::OsDevice { kind } => visit("type", AttributeValue::Text(kind.name())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bridge, Cache, Group, Pci};
    use crate::cluster::field::Property;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    #[test]
    fn each_property_in_which_nodes_may_differ_has_a_number_of_its_own() {
        let (pci, bridge) = (Pci::default(), Bridge::default());
        let (cache, group) = (Cache::default(), Group::default());
        let attributes = pci.numbers().chain(bridge.numbers()).chain(cache.numbers());
        let attributes = attributes.chain(group.numbers());
        let mut all: Vec<Property> = attributes.filter_map(|(property, _)| property).collect();
        assert!(all.len() >= 11, "{all:?}");
        all.extend([Property::NAME, Property::SUBTYPE, Property::INFO_VALUE, Property::FACT_VALUE]);
        all.extend([Property::GP_INDEX, Property::LOCAL_MEMORY, Property::PAGE_COUNT]);
        all.extend([Property::DISTANCE, Property::MEMORY_VALUE]);
        let distinct: BTreeSet<Property> = all.iter().copied().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
    }
}
