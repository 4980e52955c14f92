//! Prints distances, memory attributes and CPU kinds.

use super::Console;
use super::style::Indexes;
use crate::output::in_line;
use topobroker::table::MOST_WIDTH;
use topobroker_reader::{
    Attributes, Distances, Initiator, MemoryAttribute, Object, ObjectType, Set, Topology,
};

/// `HWLOC_DISTANCES_KIND_MEANS_LATENCY`.
const LATENCY: u64 = 1 << 2;
/// `HWLOC_DISTANCES_KIND_MEANS_BANDWIDTH`.
const BANDWIDTH: u64 = 1 << 3;

/// Ids of the predefined memory attributes, in the order in which hwloc's programs print them.
const KNOWN_ATTRIBUTES: [usize; 8] = [0, 1, 2, 4, 5, 3, 6, 7];

impl Console {
    pub(super) fn distances(&mut self, topology: Topology<'_>) {
        topology.distances().for_each(|matrix| self.matrix(matrix));
    }

    fn matrix(&mut self, matrix: Distances<'_>) {
        let objects: Vec<Object<'_>> = matrix.objects().collect();
        let Some(first) = objects.first() else { return };
        let kind = matrix.kind();
        let meaning = match kind {
            kind if kind & LATENCY != 0 => "latency",
            kind if kind & BANDWIDTH != 0 => "bandwidth",
            _ => "distance",
        };
        let name = in_line(matrix.name().unwrap_or("(null)"));
        let count = objects.len();
        let mixed = matrix.is_heterogeneous();
        let between = if mixed {
            "heterogeneous objects".to_owned()
        } else {
            format!("{}s (depth {})", first.object_type().name(), first.depth())
        };
        let by = if self.style.indexes == Indexes::Physical { "physical" } else { "logical" };
        self.put(format_args!(
            "Relative {meaning} matrix (name {name} kind {kind}) between {count} {between} \
             by {by} indexes:\n"
        ));
        let labels: Vec<String> = objects.iter().map(|object| self.label(*object, mixed)).collect();
        let rows = (0..count).map(|from| {
            let values = (0..count).filter_map(move |to| matrix.value(from, to));
            values.map(|value| value.to_string()).collect::<Vec<_>>()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let cells = rows.iter().flatten().chain(&labels);
        // A name of any length makes no other cell longer.
        let width = cells.map(String::len).max().unwrap_or(0).clamp("index".len(), MOST_WIDTH);
        self.row("index", &labels, width);
        for (label, row) in labels.iter().zip(&rows) {
            self.row(label, row, width);
        }
    }

    fn row(&mut self, label: &str, cells: &[String], width: usize) {
        self.put(format_args!(" {label:>width$}"));
        cells.iter().for_each(|cell| self.put(format_args!(" {cell:>width$}")));
        self.text.push('\n');
    }

    /// The label of an object in a matrix.
    fn label(&self, object: Object<'_>, with_type: bool) -> String {
        if let (ObjectType::OSDevice, Some(name)) = (object.object_type(), object.name()) {
            return name.to_owned();
        }
        if let Attributes::Pci(pci) = object.attributes() {
            return pci.bus_id().to_string();
        }
        let index = self.index(object).map_or_else(|| "-1".to_owned(), |index| index.to_string());
        if with_type { format!("{}:{index}", object.object_type().name()) } else { index }
    }

    fn index(&self, object: Object<'_>) -> Option<u32> {
        match self.style.indexes {
            Indexes::Physical => object.os_index(),
            _ => Some(object.logical_index()),
        }
    }

    pub(super) fn memory_attributes(&mut self, topology: Topology<'_>, all: bool) {
        let attributes: Vec<MemoryAttribute<'_>> = topology.memory_attributes().collect();
        let known = KNOWN_ATTRIBUTES.into_iter();
        for id in known.chain(KNOWN_ATTRIBUTES.len()..attributes.len()) {
            if let Some(attribute) = attributes.get(id) {
                self.memory_attribute(*attribute, all);
            }
        }
    }

    fn memory_attribute(&mut self, attribute: MemoryAttribute<'_>, all: bool) {
        let mut values = attribute.values().peekable();
        if !all && (attribute.is_derived() || values.peek().is_none()) {
            return;
        }
        let (id, name, flags) = (attribute.id(), attribute.name(), attribute.flags());
        self.put(format_args!("Memory attribute #{id} name `{name}' flags {flags}\n"));
        for value in values {
            let target = self.named(value.target);
            self.put(format_args!("  {target} = {}", value.value));
            match value.initiator {
                Initiator::None => {}
                Initiator::Object(object) => {
                    let from = self.named(object);
                    self.put(format_args!(" from {from}"));
                }
                Initiator::Cpuset(set) => {
                    self.put(format_args!(" from cpuset {set}"));
                    if let Some(object) = object_of(value.target.topology(), &set) {
                        let from = self.named(object);
                        self.put(format_args!(" ({from})"));
                    }
                }
            }
            self.text.push('\n');
        }
    }

    fn named(&self, object: Object<'_>) -> String {
        let letter = if self.style.indexes == Indexes::Physical { 'P' } else { 'L' };
        if let Attributes::Pci(pci) = object.attributes() {
            return pci.bus_id().to_string();
        }
        let index = self.index(object).map_or(-1, i64::from);
        let mut text = format!("{} {letter}#{index}", object.type_name(false));
        if let Some(name) = object.name() {
            text.push_str(&format!(" \"{}\"", in_line(name)));
        }
        text
    }

    pub(super) fn cpu_kinds(&mut self, topology: Topology<'_>) {
        for (index, kind) in topology.cpu_kinds().enumerate() {
            let efficiency = kind.efficiency().map_or(-1, i64::from);
            let cpuset = kind.cpuset();
            self.put(format_args!("CPU kind #{index} efficiency {efficiency} cpuset {cpuset}\n"));
            for info in kind.infos() {
                let (name, value) = (in_line(info.name), in_line(info.value));
                self.put(format_args!("  {name} = {value}\n"));
            }
        }
    }
}

/// The highest normal object whose cpuset is `set`.
fn object_of<'a>(topology: Topology<'a>, set: &Set) -> Option<Object<'a>> {
    let mut objects = topology.objects().take_while(|object| object.object_type().is_normal());
    objects.find(|object| object.cpuset().as_ref() == Some(set))
}
