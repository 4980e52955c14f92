//! What two nodes must have in common to be of one class: everything of an archive but the values
//! that [`own_values`](super::own_values::own_values) lists.
//!
//! Structures are taken apart field by field, so that the compiler names a column that is new and
//! not handled here.

use topobroker_layout::archive::{
    ArchivedCpuKind, ArchivedDistances, ArchivedFactsOfObjects, ArchivedInfosOfObjects,
    ArchivedMachine, ArchivedMemoryAttributes, ArchivedObjects, ArchivedPuRun, ArchivedSetTable,
    ArchivedStringsOfObjects, ArchivedTopology,
};
use topobroker_layout::cluster::bytes::{push_number, push_text};
use topobroker_layout::cluster::field::Property;
use topobroker_layout::column::ArchivedColumn;
use topobroker_layout::levels::{ArchivedLevel, ArchivedLevels};
use topobroker_layout::tree::ArchivedTree;
use topobroker_reader::{Archive, Attributes, Object, Topology};

/// The bytes of the skeleton of a topology. They are equal for nodes of one class, on every
/// machine.
pub(super) fn skeleton(archive: &Archive<'_>) -> Vec<u8> {
    let mut out = Skeleton(Vec::with_capacity(8192));
    out.topology(archive.columns());
    archive.topology().objects().for_each(|object| out.attributes(object));
    out.texts(archive.topology());
    out.0
}

struct Skeleton(Vec<u8>);

impl Skeleton {
    fn topology(&mut self, columns: &ArchivedTopology) {
        let ArchivedTopology {
            levels,
            tree,
            objects,
            sets,
            // Numbers of strings depend on all strings: texts and attributes follow by object.
            strings: _,
            names,
            subtypes,
            infos,
            facts,
            total_memory: _,
            caches: _,
            numa_nodes: _,
            groups: _,
            bridge_upstream: _,
            bridges: _,
            pci: _,
            os_device_kind: _,
            distances,
            memory_attributes,
            cpu_kinds,
            pu_runs,
            numa_by_os_index,
            machine,
        } = columns;
        self.levels(levels);
        self.tree(tree);
        let ArchivedObjects { os_index, gp_index: _, sets: rows, symmetric } = objects;
        [os_index, rows, symmetric].into_iter().for_each(|column| self.column(column));
        self.sets(sets);
        [names, subtypes].into_iter().for_each(|table| self.has_strings(table));
        let ArchivedInfosOfObjects { start, name: _, value: _ } = infos;
        self.column(start);
        self.number(facts.len() as u64);
        for ArchivedFactsOfObjects { object, name: _, value: _ } in facts.iter() {
            self.column(object);
        }
        self.number(distances.len() as u64);
        for ArchivedDistances { name: _, kind, objects, values: _ } in distances.iter() {
            self.number(kind.to_native());
            self.column(objects);
        }
        let ArchivedMemoryAttributes {
            name: _,
            flags,
            start,
            target,
            initiator_kind,
            initiator,
            value: _,
        } = memory_attributes;
        [flags, start, target, initiator_kind, initiator]
            .into_iter()
            .for_each(|column| self.column(column));
        self.number(cpu_kinds.len() as u64);
        for kind in cpu_kinds.iter() {
            let ArchivedCpuKind {
                cpuset,
                efficiency,
                forced_efficiency,
                info_name: _,
                info_value: _,
            } = kind;
            [cpuset, efficiency, forced_efficiency]
                .into_iter()
                .for_each(|it| self.number(it.to_native().into()));
        }
        self.number(pu_runs.len() as u64);
        for ArchivedPuRun { os_first, count, logical_first, step } in pu_runs.iter() {
            [os_first, count, logical_first, step]
                .into_iter()
                .for_each(|it| self.number(it.to_native().into()));
        }
        self.column(numa_by_os_index);
        let ArchivedMachine {
            flags,
            is_this_system,
            allowed_cpuset,
            allowed_nodeset,
            type_filters,
            support,
        } = machine;
        self.number(flags.to_native());
        [is_this_system, allowed_cpuset, allowed_nodeset]
            .into_iter()
            .for_each(|it| self.number(it.to_native().into()));
        [type_filters, support].into_iter().for_each(|column| self.column(column));
    }

    fn levels(&mut self, levels: &ArchivedLevels) {
        let ArchivedLevels {
            normal,
            rows,
            depth_of_type,
            common,
            // Whether objects of a level share a row of attributes depends on values.
            attribute_first: _,
            attribute_stride: _,
        } = levels;
        self.number(normal.to_native().into());
        self.number(rows.len() as u64);
        for ArchivedLevel { first, kind } in rows.iter() {
            [first, kind].into_iter().for_each(|it| self.number(it.to_native().into()));
        }
        self.0.extend_from_slice(depth_of_type);
        self.0.extend_from_slice(common);
    }

    fn tree(&mut self, tree: &ArchivedTree) {
        let ArchivedTree { objects, with_pus, width, members, attached, child_start, children } =
            tree;
        [objects, with_pus, width].into_iter().for_each(|it| self.number(it.to_native().into()));
        for bytes in [members, attached, child_start, children] {
            self.number(bytes.len() as u64);
            self.0.extend_from_slice(bytes);
        }
    }

    fn sets(&mut self, sets: &ArchivedSetTable) {
        let ArchivedSetTable {
            cpuset,
            complete_cpuset,
            nodeset,
            complete_nodeset,
            first_word,
            start,
            infinite,
            words,
        } = sets;
        let columns = [cpuset, complete_cpuset, nodeset, complete_nodeset];
        columns.into_iter().for_each(|column| self.column(column));
        [first_word, start, infinite, words].into_iter().for_each(|column| self.column(column));
    }

    /// Which objects have a name or a subtype.
    fn has_strings(&mut self, table: &ArchivedStringsOfObjects) {
        let ArchivedStringsOfObjects { first, string } = table;
        self.number(first.to_native().into());
        self.number(string.len() as u64);
        self.0.extend(string.iter().map(|plus_one| u8::from(plus_one > 0)));
    }

    /// The attributes that nodes of one class have in common.
    fn attributes(&mut self, object: Object<'_>) {
        match object.attributes() {
            Attributes::Cache(cache) => self.in_common(cache.numbers()),
            Attributes::Group(group) => self.in_common(group.numbers()),
            Attributes::Bridge(bridge) => {
                self.in_common(bridge.numbers());
                self.number(bridge.upstream.is_some().into());
                bridge.upstream.inspect(|pci| self.in_common(pci.numbers()));
            }
            Attributes::Pci(pci) => self.in_common(pci.numbers()),
            Attributes::OsDevice { kind } => self.number(kind.raw().into()),
            Attributes::NumaNode { .. } => {
                self.number(object.page_types().count() as u64);
                object.page_types().for_each(|page| self.number(page.size));
            }
            _ => {}
        }
    }

    fn in_common(&mut self, numbers: impl Iterator<Item = (Option<Property>, u64)>) {
        let numbers = numbers.filter(|(property, _)| property.is_none());
        numbers.for_each(|(_, number)| self.number(number));
    }

    /// Names of infos, facts and tables, and all texts of CPU kinds.
    fn texts(&mut self, topology: Topology<'_>) {
        for object in topology.objects() {
            object.infos().for_each(|info| self.text(info.name));
            object.facts().for_each(|fact| self.text(fact.name));
        }
        for matrix in topology.distances() {
            self.number(matrix.name().is_some().into());
            self.text(matrix.name().unwrap_or_default());
        }
        topology.memory_attributes().for_each(|attribute| self.text(attribute.name()));
        for kind in topology.cpu_kinds() {
            self.number(kind.infos().count() as u64);
            for info in kind.infos() {
                self.text(info.name);
                self.text(info.value);
            }
        }
    }

    fn column(&mut self, column: &ArchivedColumn) {
        self.number(column.len() as u64);
        column.iter().for_each(|value| self.number(value));
    }

    fn text(&mut self, text: &str) {
        push_text(&mut self.0, text);
    }

    fn number(&mut self, value: u64) {
        push_number(&mut self.0, value);
    }
}
