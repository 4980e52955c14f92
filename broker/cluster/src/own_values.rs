//! The values of a topology that may differ between nodes of one class.

use topobroker_layout::cluster::field::{Field, Property};
use topobroker_reader::{Attributes, Object, Pci, Topology};

/// A value of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own<T> {
    /// A number.
    Number(u64),
    /// A text.
    Text(T),
}

/// All values that may differ, by ascending field. Nodes with equal skeletons have the same fields.
pub(super) fn own_values(topology: Topology<'_>) -> Vec<(Field, Own<&str>)> {
    let mut values = Values(Vec::with_capacity(8 * topology.object_count()));
    topology.objects().for_each(|object| values.object(object));
    values.tables(topology);
    values.0.sort_unstable_by_key(|(field, _)| *field);
    values.0
}

struct Values<'a>(Vec<(Field, Own<&'a str>)>);

impl<'a> Values<'a> {
    fn object(&mut self, object: Object<'a>) {
        let id = object.id();
        let texts = [(Property::Name, object.name()), (Property::Subtype, object.subtype())];
        for (property, text) in texts {
            text.inspect(|text| self.text(property, id, 0, text));
        }
        for (info, place) in object.infos().zip(0..) {
            self.text(Property::InfoValue, id, place, info.value);
        }
        for (fact, place) in object.facts().zip(0..) {
            self.text(Property::FactValue, id, place, fact.value);
        }
        self.number(Property::GpIndex, id, object.gp_index());
        match object.attributes() {
            Attributes::NumaNode { local_memory } => {
                self.number(Property::LocalMemory, id, local_memory);
                for (page, place) in object.page_types().zip(0..) {
                    let field = Field::new(Property::PageCount, id, place);
                    self.0.push((field, Own::Number(page.count)));
                }
            }
            Attributes::Pci(pci) => self.pci(id, &pci),
            Attributes::Bridge(bridge) => {
                bridge.upstream.inspect(|pci| self.pci(id, pci));
                self.number(Property::BridgeDomain, id, bridge.downstream_domain.into());
                self.number(Property::BridgeSecondaryBus, id, bridge.secondary_bus.into());
                self.number(Property::BridgeSubordinateBus, id, bridge.subordinate_bus.into());
            }
            _ => {}
        }
    }

    fn pci(&mut self, id: u32, pci: &Pci) {
        let pair = |high: u16, low: u16| (u64::from(high) << 16) | u64::from(low);
        let place = u64::from(u16::from_be_bytes([pci.dev, pci.func]));
        self.number(Property::PciDomain, id, pci.domain.into());
        self.number(Property::PciBus, id, pci.bus.into());
        self.number(Property::PciDeviceFunction, id, place);
        self.number(Property::PciVendor, id, pci.vendor_id.into());
        self.number(Property::PciDevice, id, pci.device_id.into());
        self.number(Property::PciSubsystem, id, pair(pci.subvendor_id, pci.subdevice_id));
        self.number(Property::PciRevision, id, pci.revision.into());
        self.number(Property::PciLinkSpeed, id, pci.linkspeed.to_bits().into());
    }

    fn tables(&mut self, topology: Topology<'a>) {
        for (matrix, number) in topology.distances().zip(0..) {
            let count = matrix.objects().count();
            let cells = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
            for ((from, to), place) in cells.zip(0..) {
                let value = matrix.value(from, to).unwrap_or_default();
                let field = Field::new(Property::Distance, number, place);
                self.0.push((field, Own::Number(value)));
            }
        }
        let stored = topology.memory_attributes().filter(|attribute| !attribute.is_derived());
        let values = stored.flat_map(topobroker_reader::MemoryAttribute::values);
        for (value, place) in values.zip(0..) {
            let field = Field::new(Property::MemoryValue, 0, place);
            self.0.push((field, Own::Number(value.value)));
        }
    }

    fn number(&mut self, property: Property, id: u32, value: u64) {
        self.0.push((Field::new(property, id, 0), Own::Number(value)));
    }

    fn text(&mut self, property: Property, id: u32, place: u32, value: &'a str) {
        self.0.push((Field::new(property, id, place), Own::Text(value)));
    }
}
