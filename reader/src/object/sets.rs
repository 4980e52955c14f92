//! The four sets of an object, made when they are asked for.

use super::Object;
use crate::extent::Extent;
use crate::numbering::Numbering;
use crate::stored_set::{StoredSet, Words};
use crate::topology::Topology;
use std::ops::Range;
use topobroker_layout::archive::SAME_SET;
use topobroker_layout::set::Set;

impl Topology<'_> {
    /// Whether no object has PUs that are known of but not in the topology.
    pub(crate) fn has_complete_sets_of_pus(self) -> bool {
        let rows = &self.seen.archive.sets.complete_cpuset;
        (0..rows.len()).all(|row| rows.get_u32(row) == SAME_SET)
    }
}

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
    #[inline]
    pub fn copy_cpuset(self, set: &mut Set) -> bool {
        if let Some((numbering, pus)) = self.numbered_pus() {
            numbering.copy(pus, set);
            return true;
        }
        set.clear();
        self.add_any_cpuset(set)
    }

    /// The PUs shown of the object and how they are numbered, where these follow each other and that is even.
    #[inline]
    pub(crate) fn numbered_pus(self) -> Option<(&'a Numbering, Range<u32>)> {
        let seen = self.topology.seen;
        let numbering = seen.numbering.as_ref().filter(|_| seen.has_runs && self.has_sets())?;
        Some((numbering, self.topology.solid_run(&self.base_pus())?))
    }

    /// Puts the PUs of the object into `set`. False of an object without sets.
    #[inline]
    pub(crate) fn add_cpuset(self, set: &mut Set) -> bool {
        match self.numbered_pus() {
            Some((numbering, pus)) => numbering.add(pus, set),
            None => return self.add_any_cpuset(set),
        }
        true
    }

    /// The same of any object.
    #[inline(never)]
    fn add_any_cpuset(self, set: &mut Set) -> bool {
        let Some(extent) = self.extent() else { return false };
        let topology = self.topology;
        match extent {
            Extent::Pus(_, pus) if topology.seen.solid.is_some() => {
                let shown = topology.solid_run(&pus).unwrap_or(pus);
                topology.add_os_indexes(shown, set);
            }
            Extent::Pus(_, pus) if set.is_empty() => {
                topology.add_os_indexes(pus, set);
                if let Some(overlay) = topology.seen.overlay {
                    set.mask(|index| overlay.cpus.word(index));
                }
            }
            stored if set.is_empty() => stored.copy_to(set),
            other => *set |= &other.to_set(),
        }
        true
    }

    /// As [`Object::copy_cpuset`], of [`Object::complete_cpuset`].
    pub fn copy_complete_cpuset(self, set: &mut Set) -> bool {
        let Some(row) = self.set_row() else { return self.copy_cpuset(set) };
        match self.topology.seen.archive.sets.complete_cpuset.get_u32(row) {
            SAME_SET => return self.copy_cpuset(set),
            stored => self.topology.stored_cpuset(stored).copy_to(set),
        }
        true
    }

    /// As [`Object::copy_cpuset`], of [`Object::nodeset`].
    pub fn copy_nodeset(self, set: &mut Set) -> bool {
        set.clear();
        let Some(stored) = self.stored_nodeset() else { return false };
        stored.copy_to(set);
        true
    }

    /// [`Object::nodeset`] in place.
    pub(crate) fn stored_nodeset(self) -> Option<StoredSet<'a>> {
        let row = self.topology.seen.archive.sets.nodeset.get_u32(self.set_row()?);
        Some(self.topology.stored_nodeset(row))
    }

    /// As [`Object::copy_cpuset`], of [`Object::complete_nodeset`].
    pub fn copy_complete_nodeset(self, set: &mut Set) -> bool {
        let Some(row) = self.set_row() else { return self.copy_nodeset(set) };
        match self.topology.seen.archive.sets.complete_nodeset.get_u32(row) {
            SAME_SET => return self.copy_nodeset(set),
            stored => self.topology.stored_nodeset(stored).copy_to(set),
        }
        true
    }

    /// [`Object::complete_cpuset`] in place.
    pub(crate) fn complete_extent(self) -> Option<Extent<'a>> {
        let row = self.set_row()?;
        match self.topology.seen.archive.sets.complete_cpuset.get_u32(row) {
            SAME_SET => self.extent(),
            stored => Some(Extent::Stored(self.topology.stored_cpuset(stored))),
        }
    }

    /// [`Object::complete_nodeset`] in place.
    pub(crate) fn stored_complete_nodeset(self) -> Option<StoredSet<'a>> {
        let row = self.set_row()?;
        match self.topology.seen.archive.sets.complete_nodeset.get_u32(row) {
            SAME_SET => self.stored_nodeset(),
            stored => Some(self.topology.stored_nodeset(stored)),
        }
    }

    /// Whether the object has sets: I/O and Misc objects have none.
    #[inline]
    pub(crate) fn has_sets(self) -> bool {
        self.id < self.topology.seen.tree.with_pus()
    }

    /// Row of the sets of the object, `None` if it has none.
    #[inline]
    pub(crate) fn set_row(self) -> Option<usize> {
        let sets = &self.topology.seen.archive.objects.sets;
        (self.at() < sets.len()).then(|| sets.get_u32(self.at()) as usize)?.checked_sub(1)
    }
}

/// A new set, if it could be filled.
fn made(fill: impl FnOnce(&mut Set) -> bool) -> Option<Set> {
    let mut set = Set::new();
    fill(&mut set).then_some(set)
}
