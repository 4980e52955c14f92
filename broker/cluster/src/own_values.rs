//! The values of a topology that may differ between nodes of one class.

use topobroker_layout::cluster::field::{Field, Property};
use topobroker_reader::{Attributes, Object, Topology};

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
        let texts = [(Property::NAME, object.name()), (Property::SUBTYPE, object.subtype())];
        for (property, text) in texts {
            text.inspect(|text| self.text(property, id, 0, text));
        }
        for (info, place) in object.infos().zip(0..) {
            self.text(Property::INFO_VALUE, id, place, info.value);
        }
        for (fact, place) in object.facts().zip(0..) {
            self.text(Property::FACT_VALUE, id, place, fact.value);
        }
        self.number(Property::GP_INDEX, id, object.gp_index());
        match object.attributes() {
            Attributes::NumaNode { local_memory } => {
                self.number(Property::LOCAL_MEMORY, id, local_memory);
                for (page, place) in object.page_types().zip(0..) {
                    let field = Field::new(Property::PAGE_COUNT, id, place);
                    self.0.push((field, Own::Number(page.count)));
                }
            }
            Attributes::Cache(cache) => self.attributes(id, cache.numbers()),
            Attributes::Group(group) => self.attributes(id, group.numbers()),
            Attributes::Pci(pci) => self.attributes(id, pci.numbers()),
            Attributes::Bridge(bridge) => {
                bridge.upstream.inspect(|pci| self.attributes(id, pci.numbers()));
                self.attributes(id, bridge.numbers());
            }
            _ => {}
        }
    }

    fn attributes(&mut self, id: u32, numbers: impl Iterator<Item = (Option<Property>, u64)>) {
        for (property, number) in numbers {
            property.inspect(|property| self.number(*property, id, number));
        }
    }

    fn tables(&mut self, topology: Topology<'a>) {
        for (matrix, number) in topology.distances().zip(0..) {
            let count = matrix.objects().count();
            let cells = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
            for ((from, to), place) in cells.zip(0..) {
                let value = matrix.value(from, to).unwrap_or_default();
                let field = Field::new(Property::DISTANCE, number, place);
                self.0.push((field, Own::Number(value)));
            }
        }
        let stored = topology.memory_attributes().filter(|attribute| !attribute.is_derived());
        let values = stored.flat_map(topobroker_reader::MemoryAttribute::values);
        for (value, place) in values.zip(0..) {
            let field = Field::new(Property::MEMORY_VALUE, 0, place);
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
