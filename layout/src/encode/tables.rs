//! Encodes the tables other than the tree: strings, memory, distances, memory attributes, CPU
//! kinds.

use super::builder::Builder;
use super::error::EncodeError;
use crate::archive::{self, NONE};
use crate::attributes::Attributes;
use crate::column::Column;
use crate::description::{Initiator, Object};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

impl Builder<'_> {
    pub(super) fn strings_of_objects(
        &mut self,
        text: impl Fn(&Object) -> Option<&str>,
    ) -> archive::StringsOfObjects {
        let by_id = self.by_id.clone();
        let mut rows = by_id
            .iter()
            .map(|object| text(object).map_or(0, |text| u64::from(self.strings.intern(text)) + 1));
        let rows: Vec<u64> = rows.by_ref().collect();
        let first = rows.iter().take_while(|row| **row == 0).count();
        let end = rows.iter().rposition(|row| *row != 0).map_or(first, |last| last + 1);
        archive::StringsOfObjects {
            first: u32::try_from(first).unwrap_or(u32::MAX),
            string: Column::pack(rows.get(first..end).unwrap_or_default()),
        }
    }

    pub(super) fn infos(&mut self) -> archive::InfosOfObjects {
        let (mut start, mut names, mut values) = (vec![0], Vec::new(), Vec::new());
        for owner in &self.by_id {
            for (name, value) in &owner.infos {
                names.push(u64::from(self.strings.intern(name)));
                values.push(u64::from(self.strings.intern(value)));
            }
            start.push(names.len() as u64);
        }
        // If no object has infos, there are no starts to store.
        let start = if names.is_empty() { Vec::new() } else { start };
        archive::InfosOfObjects {
            start: Column::pack(&start),
            name: Column::pack(&names),
            value: Column::pack(&values),
        }
    }

    /// The table of facts; none if there are no facts, as in every archive of an XML file.
    pub(super) fn facts(&mut self) -> Vec<archive::FactsOfObjects> {
        let (mut objects, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (id, owner) in (0..).zip(&self.by_id) {
            for (name, value) in &owner.facts {
                objects.push(id);
                names.push(u64::from(self.strings.intern(name)));
                values.push(u64::from(self.strings.intern(value)));
            }
        }
        if objects.is_empty() {
            return Vec::new();
        }
        vec![archive::FactsOfObjects {
            object: Column::pack(&objects),
            name: Column::pack(&names),
            value: Column::pack(&values),
        }]
    }

    /// Memory of the NUMA nodes below each object; objects without memory have no row.
    pub(super) fn total_memory(&self) -> archive::TotalMemory {
        let mut total = vec![0u64; self.description.objects.len()];
        for (place, object) in self.description.objects.iter().enumerate() {
            let Attributes::NumaNode { local_memory } = object.attributes else {
                continue;
            };
            let mut above = Some(place);
            // Bounds the walk in case parents form a circle: no tree is deeper than its number of
            // objects.
            for _ in 0..self.by_id.len() {
                let Some(place) = above else { break };
                if let Some(sum) = total.get_mut(place) {
                    *sum = sum.saturating_add(local_memory);
                }
                above = self.description.objects.get(place).and_then(|object| object.parent);
            }
        }
        let mut rows: Vec<(u64, u64)> = total
            .iter()
            .zip(&self.id_of)
            .filter(|(bytes, _)| **bytes != 0)
            .map(|(bytes, id)| (*id, *bytes))
            .collect();
        rows.sort_unstable();
        archive::TotalMemory {
            object: Column::pack(&rows.iter().map(|row| row.0).collect::<Vec<_>>()),
            bytes: Column::pack(&rows.iter().map(|row| row.1).collect::<Vec<_>>()),
        }
    }

    pub(super) fn distances(&mut self) -> Result<Vec<archive::Distances>, EncodeError> {
        let description = self.description;
        let matrices = description.distances.iter().map(|matrix| {
            let objects = matrix.objects.iter().map(|&place| self.id(place, "a distance matrix"));
            let objects = objects.collect::<Result<Vec<_>, _>>()?;
            Ok(archive::Distances {
                name: matrix.name.as_ref().map_or(NONE, |name| self.strings.intern(name)),
                kind: matrix.kind,
                objects: Column::pack(&objects),
                values: Column::pack(&matrix.values),
            })
        });
        matrices.collect()
    }

    pub(super) fn memory_attributes(&mut self) -> Result<archive::MemoryAttributes, EncodeError> {
        let what = "a memory attribute";
        let (mut name, mut flags, mut start) = (Vec::new(), Vec::new(), vec![0]);
        let (mut target, mut value) = (Vec::new(), Vec::new());
        let (mut initiator_kind, mut initiator) = (Vec::new(), Vec::new());
        for attribute in &self.description.memory_attributes {
            name.push(u64::from(self.strings.intern(&attribute.name)));
            flags.push(attribute.flags);
            for row in &attribute.values {
                target.push(self.id(row.target, what)?);
                value.push(row.value);
                let (kind, row) = match &row.initiator {
                    Initiator::None => (0, 0),
                    Initiator::Cpuset(set) => (1, u64::from(self.sets.intern(set))),
                    Initiator::Object(place) => (2, self.id(*place, what)?),
                };
                initiator_kind.push(kind);
                initiator.push(row);
            }
            start.push(target.len() as u64);
        }
        Ok(archive::MemoryAttributes {
            name: Column::pack(&name),
            flags: Column::pack(&flags),
            start: Column::pack(&start),
            target: Column::pack(&target),
            initiator_kind: Column::pack(&initiator_kind),
            initiator: Column::pack(&initiator),
            value: Column::pack(&value),
        })
    }

    pub(super) fn cpu_kinds(&mut self) -> Vec<archive::CpuKind> {
        let plus_one = |value: Option<u32>| value.map_or(0, |value| value.saturating_add(1));
        let description = self.description;
        let kinds = description.cpu_kinds.iter().map(|kind| {
            let mut strings = |text: &String| u64::from(self.strings.intern(text));
            let (names, values): (Vec<u64>, Vec<u64>) =
                kind.infos.iter().map(|(name, value)| (strings(name), strings(value))).unzip();
            archive::CpuKind {
                cpuset: self.sets.intern(&kind.cpuset),
                efficiency: plus_one(kind.efficiency),
                forced_efficiency: plus_one(kind.forced_efficiency),
                info_name: Column::pack(&names),
                info_value: Column::pack(&values),
            }
        });
        kinds.collect()
    }
}
