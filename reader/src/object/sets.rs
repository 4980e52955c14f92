//! The four sets of an object, made when they are asked for.

use super::Object;
use crate::stored_set::StoredSet;
use topobroker_layout::archive::{CPUSET_OF_PUS, SAME_SET};
use topobroker_layout::set::Set;

impl<'a> Object<'a> {
    /// PUs of the object that are in the topology; `None` of I/O and Misc objects. Counterpart:
    /// `cpuset`.
    #[must_use]
    pub fn cpuset(self) -> Option<Set> {
        made(|set| self.copy_cpuset(set))
    }

    /// PUs of the object, known or not. Counterpart: `complete_cpuset`.
    #[must_use]
    pub fn complete_cpuset(self) -> Option<Set> {
        made(|set| self.copy_complete_cpuset(set))
    }

    /// NUMA nodes near the object that are in the topology. Counterpart: `nodeset`.
    #[must_use]
    pub fn nodeset(self) -> Option<Set> {
        made(|set| self.copy_nodeset(set))
    }

    /// NUMA nodes near the object, known or not. Counterpart: `complete_nodeset`.
    #[must_use]
    pub fn complete_nodeset(self) -> Option<Set> {
        made(|set| self.copy_complete_nodeset(set))
    }

    /// Makes `set` what [`Object::cpuset`] is, in the memory that it has. False of an object
    /// without sets, which empties it.
    ///
    /// ```no_run
    /// # let topology = topobroker_reader::adopt()?.topology();
    /// let mut set = topobroker_reader::Set::new();
    /// for object in topology.objects() {
    ///     if object.copy_cpuset(&mut set) {
    ///         println!("{object:?}: {set}");
    ///     }
    /// }
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    pub fn copy_cpuset(self, set: &mut Set) -> bool {
        set.clear();
        self.add_cpuset(set)
    }

    /// Puts the PUs of the object into `set`. False of an object without sets.
    pub(crate) fn add_cpuset(self, set: &mut Set) -> bool {
        let topology = self.topology;
        let add_pus = |set: &mut Set| {
            let ranges = topology.os_ranges(self.pus());
            ranges.for_each(|range| set.insert_range(range.start..=range.end - 1));
        };
        if topology.is_plain() && self.has_sets() {
            add_pus(set);
            return true;
        }
        let Some(row) = self.set_row() else { return false };
        match topology.archive.sets.cpuset.get_u32(row) {
            CPUSET_OF_PUS => add_pus(set),
            stored if set.is_empty() => topology.stored_set(stored).copy_to(set),
            stored => *set = &*set | &topology.stored_set(stored).to_set(),
        }
        true
    }

    /// As [`Object::copy_cpuset`], of [`Object::complete_cpuset`].
    pub fn copy_complete_cpuset(self, set: &mut Set) -> bool {
        let Some(row) = self.set_row() else { return self.copy_cpuset(set) };
        match self.topology.archive.sets.complete_cpuset.get_u32(row) {
            SAME_SET => return self.copy_cpuset(set),
            stored => self.topology.stored_set(stored).copy_to(set),
        }
        true
    }

    /// As [`Object::copy_cpuset`], of [`Object::nodeset`].
    pub fn copy_nodeset(self, set: &mut Set) -> bool {
        set.clear();
        let Some(row) = self.set_row() else { return false };
        self.topology.stored_set(self.topology.archive.sets.nodeset.get_u32(row)).copy_to(set);
        true
    }

    /// [`Object::nodeset`] in place.
    pub(crate) fn stored_nodeset(self) -> Option<StoredSet<'a>> {
        let row = self.topology.archive.sets.nodeset.get_u32(self.set_row()?);
        Some(self.topology.stored_set(row))
    }

    /// As [`Object::copy_cpuset`], of [`Object::complete_nodeset`].
    pub fn copy_complete_nodeset(self, set: &mut Set) -> bool {
        let Some(row) = self.set_row() else { return self.copy_nodeset(set) };
        match self.topology.archive.sets.complete_nodeset.get_u32(row) {
            SAME_SET => return self.copy_nodeset(set),
            stored => self.topology.stored_set(stored).copy_to(set),
        }
        true
    }

    /// Whether the object has sets: I/O and Misc objects have none.
    #[inline]
    pub(crate) fn has_sets(self) -> bool {
        self.id < self.topology.archive.tree.with_pus.to_native()
    }

    /// Row of the sets of the object, `None` if it has none.
    #[inline]
    pub(crate) fn set_row(self) -> Option<usize> {
        let sets = &self.topology.archive.objects.sets;
        (self.at() < sets.len()).then(|| sets.get_u32(self.at()) as usize)?.checked_sub(1)
    }
}

/// A new set, if it could be filled.
fn made(fill: impl FnOnce(&mut Set) -> bool) -> Option<Set> {
    let mut set = Set::new();
    fill(&mut set).then_some(set)
}
