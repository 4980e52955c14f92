//! The visible part of stored sets of PUs that belong to no object.

use super::Index;
use super::extent::Extent;
use super::stored_set::StoredSet;
use super::words::Words;

/// The visible part of a stored set of PUs that belongs to no object, but to a CPU kind or an
/// initiator. hwloc intersects such sets with the cpuset of the root when it restricts a topology.
pub(crate) struct VisiblePart<'a> {
    set: StoredSet<'a>,
    /// Cpuset of the root of a view; `None` if the whole topology is visible.
    root: Option<Extent<'a>>,
}

impl<'a> Index<'a> {
    /// The visible part of the stored set in a row.
    pub(crate) fn visible_part(&'a self, row: u32) -> VisiblePart<'a> {
        let root = self.overlay.and_then(|_| self.extent(0));
        VisiblePart { set: self.stored_cpuset(row), root }
    }
}

impl Words for VisiblePart<'_> {
    fn word(&self, index: usize) -> u64 {
        self.set.word(index) & self.root.as_ref().map_or(u64::MAX, |root| root.word(index))
    }

    fn word_count(&self) -> usize {
        let root = self.root.as_ref().filter(|_| self.set.is_infinite());
        self.set.word_count().max(root.map_or(0, Words::word_count))
    }

    fn is_infinite(&self) -> bool {
        self.set.is_infinite() && self.root.as_ref().is_none_or(Words::is_infinite)
    }
}
