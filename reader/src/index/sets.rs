//! The sets of objects: the row of the table that stores them, and the types that read them.

use super::extent::Extent;
use super::{Index, PuNumbering, StoredSet, Words};
use core::ops::Range;
use topobroker_layout::archive::{CPUSET_OF_PUS, SAME_SET};
use topobroker_layout::set::Set;
use topobroker_layout::stored_set::StoredWords;

impl<'a> Index<'a> {
    /// Visible PUs of a stored set.
    pub(crate) fn stored_cpuset(&self, row: u32) -> StoredSet<'a> {
        let visible = self.overlay.map(|overlay| &overlay.cpus);
        StoredSet::new(StoredWords::new(&self.archive.sets, row), visible)
    }

    /// Visible NUMA nodes of a stored set.
    pub(crate) fn stored_nodeset(&self, row: u32) -> StoredSet<'a> {
        let visible = self.overlay.map(|overlay| &overlay.nodes);
        StoredSet::new(StoredWords::new(&self.archive.sets, row), visible)
    }

    /// Whether an object has sets. I/O and Misc objects have none.
    #[inline]
    pub(crate) fn has_sets(&self, id: u32) -> bool {
        id < self.tree.with_pus()
    }

    /// Row of the four sets of an object, `None` for an I/O or Misc object.
    #[inline]
    fn set_row(&self, id: u32) -> Option<usize> {
        let sets = &self.archive.objects.sets;
        ((id as usize) < sets.len()).then(|| sets.get_u32(id as usize) as usize)?.checked_sub(1)
    }

    /// The cpuset of an object, `None` for an I/O or Misc object.
    #[inline]
    pub(crate) fn extent(&'a self, id: u32) -> Option<Extent<'a>> {
        if self.has_runs {
            return self.has_sets(id).then(|| Extent::Pus(self, self.pus_of(id)));
        }
        Some(match self.archive.sets.cpuset.get_u32(self.set_row(id)?) {
            CPUSET_OF_PUS => Extent::Pus(self, self.pus_of(id)),
            row => Extent::Stored(self.stored_cpuset(row)),
        })
    }

    /// The complete cpuset of an object.
    pub(crate) fn complete_extent(&'a self, id: u32) -> Option<Extent<'a>> {
        self.stored_complete_cpuset(id).map(Extent::Stored).or_else(|| self.extent(id))
    }

    /// The complete cpuset of an object, if it differs from the cpuset.
    pub(crate) fn stored_complete_cpuset(&self, id: u32) -> Option<StoredSet<'a>> {
        match self.archive.sets.complete_cpuset.get_u32(self.set_row(id)?) {
            SAME_SET => None,
            row => Some(self.stored_cpuset(row)),
        }
    }

    /// The nodeset of an object.
    pub(crate) fn nodeset(&self, id: u32) -> Option<StoredSet<'a>> {
        let row = self.archive.sets.nodeset.get_u32(self.set_row(id)?);
        Some(self.stored_nodeset(row))
    }

    /// The complete nodeset of an object.
    pub(crate) fn complete_nodeset(&self, id: u32) -> Option<StoredSet<'a>> {
        match self.archive.sets.complete_nodeset.get_u32(self.set_row(id)?) {
            SAME_SET => self.nodeset(id),
            row => Some(self.stored_nodeset(row)),
        }
    }

    /// Whether the complete cpuset of every object is its cpuset.
    pub(crate) fn has_complete_cpusets(&self) -> bool {
        let rows = &self.archive.sets.complete_cpuset;
        (0..rows.len()).all(|row| rows.get_u32(row) == SAME_SET)
    }

    /// Visible PUs of an object and their numbering, if the PUs are contiguous and the topology has
    /// a [`PuNumbering`].
    #[inline]
    pub(crate) fn numbered_pus(&self, id: u32) -> Option<(&PuNumbering, Range<u32>)> {
        let numbering = self.numbering.as_ref().filter(|_| self.has_runs && self.has_sets(id))?;
        Some((numbering, self.contiguous_run(&self.pus_of(id))?))
    }

    /// Adds the cpuset of an object to `set`. Returns false for an object without sets.
    pub(crate) fn add_cpuset(&self, id: u32, set: &mut Set) -> bool {
        // Fast path: without it, the cpuset of a nodeset takes up to twice as long as hwloc's.
        if let Some((numbering, pus)) = self.numbered_pus(id) {
            numbering.add(pus, set);
            return true;
        }
        let Some(extent) = self.extent(id) else { return false };
        match extent {
            Extent::Pus(_, pus) if self.contiguous.is_some() => {
                let visible = self.contiguous_run(&pus).unwrap_or(pus);
                self.add_os_indexes(visible, set);
            }
            Extent::Pus(_, pus) if set.is_empty() => {
                self.add_os_indexes(pus, set);
                if let Some(overlay) = self.overlay {
                    set.mask(|index| overlay.cpus.word(index));
                }
            }
            stored if set.is_empty() => stored.copy_to(set),
            other => *set |= &other.to_set(),
        }
        true
    }
}
