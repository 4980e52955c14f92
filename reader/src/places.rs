//! Where objects are: their places in what is shown, and their numbers in the topology.

use crate::stored_set::below;
use crate::topology::Topology;
use std::ops::Range;
use topobroker_layout::levels::ArchivedLevel;
use topobroker_layout::overlay::{ArchivedKept, ArchivedOverlay};
use topobroker_layout::set::Set;

impl Topology<'_> {
    /// Whether objects follow each other as in the topology itself.
    #[inline]
    pub(crate) fn is_in_order(self) -> bool {
        self.seen.is_in_order
    }

    /// Whether an object is shown.
    #[inline]
    pub(crate) fn shows(self, id: u32) -> bool {
        self.seen.overlay.is_none_or(|overlay| overlay.shows(id))
    }

    /// Place of an object that is shown, from 0, over all levels.
    #[inline]
    pub(crate) fn place_of(self, id: u32) -> u32 {
        self.seen.overlay.map_or(id, |overlay| overlay.place_of(id))
    }

    /// Number of the first object of a level, if those of the others follow it.
    #[inline]
    pub(crate) fn first_of_solid(self, level: usize) -> Option<u32> {
        match self.seen.overlay {
            None => Some(self.level_places(level).start),
            Some(overlay) => overlay.first_of_solid(level),
        }
    }

    /// The object that has an index in a level.
    #[inline]
    pub(crate) fn id_at(self, level: usize, index: u32) -> u32 {
        match self.first_of_solid(level) {
            Some(first) => first + index,
            None => self.shown_at_place(self.level_places(level).start + index),
        }
    }

    /// The object at a place.
    #[inline(never)]
    fn shown_at_place(self, place: u32) -> u32 {
        self.seen.overlay.and_then(|overlay| overlay.object_at(place)).unwrap_or(0)
    }

    /// The level of the topology that a level of what is shown is of.
    #[inline]
    pub(crate) fn base_level(self, level: usize) -> usize {
        match self.seen.overlay {
            None => level,
            Some(overlay) => overlay.base_level.get(level).map_or(level, |base| usize::from(*base)),
        }
    }

    /// Numbers of the objects of a level of the topology, shown or not.
    #[inline]
    pub(crate) fn base_ids(self, base_level: usize) -> Range<u32> {
        let first = |level: usize| self.seen.base_levels.get(level).map_or(0, ArchivedLevel::first);
        first(base_level)..first(base_level + 1)
    }

    /// Those of 64 PUs that are shown, by their logical indexes in the topology from `64 * index` on.
    #[inline]
    pub(crate) fn shown_pus(self, index: u32) -> u64 {
        self.seen.overlay.map_or(u64::MAX, |overlay| self.shown_pus_of(overlay, index))
    }

    fn shown_pus_of(self, overlay: &ArchivedOverlay, index: u32) -> u64 {
        if let Some((start, end)) = self.seen.solid {
            let before = |pu: u32| below(pu.saturating_sub(index * 64).into());
            return before(end) & !before(start);
        }
        let ids = self.pu_ids();
        let first = ids.start + index * 64;
        overlay.shown_from(first) & below(ids.end.saturating_sub(first).into())
    }

    /// The first PU shown that is not before one of the topology.
    #[inline]
    pub(crate) fn next_shown_pu(self, pu: u32) -> u32 {
        let Some(overlay) = self.seen.overlay else { return pu };
        let ids = self.pu_ids();
        overlay.next_shown(ids.start + pu).map_or(ids.end, |id| id.min(ids.end)) - ids.start
    }

    /// The first PU that only PUs which are not shown are between and one of the topology.
    #[inline]
    pub(crate) fn first_hidden_before(self, pu: u32) -> u32 {
        if self.seen.overlay.is_none() {
            return pu;
        }
        let hidden = (0..pu).rev().take_while(|before| !self.shows(self.pu_ids().start + before));
        hidden.last().unwrap_or(pu)
    }

    /// Whether an overlay shows all of the topology as it is.
    pub(crate) fn is_all(self, overlay: &ArchivedOverlay) -> bool {
        let root = self.whole().root();
        let keeps = |kept: &ArchivedKept, all: Option<Set>| {
            all.is_some_and(|all| all.is_included_in(&kept.to_set()))
        };
        overlay.len() as usize == self.seen.archive.tree.len()
            && !overlay.has_moved()
            && keeps(&overlay.cpus, root.complete_cpuset())
            && keeps(&overlay.nodes, root.complete_nodeset())
    }

    /// A range of PUs of the topology as one of those that are shown, in the topology's order.
    #[inline]
    pub(crate) fn shown_run(self, pus: &Range<u32>) -> Range<u32> {
        let Some(overlay) = self.seen.overlay else { return pus.clone() };
        if let Some((start, _)) = self.seen.solid
            && let Some(shown) = self.solid_run(pus)
        {
            return shown.start - start..shown.end - start;
        }
        let first = self.pu_ids().start;
        let before = |pu: u32| overlay.shown_before(first + pu);
        let none = overlay.shown_before(first);
        before(pus.start) - none..before(pus.end) - none
    }

    /// Those PUs of a range that are shown, if all that are shown follow each other.
    #[inline]
    pub(crate) fn solid_run(self, pus: &Range<u32>) -> Option<Range<u32>> {
        if self.seen.overlay.is_none() {
            return Some(pus.clone());
        }
        let (start, end) = self.seen.solid?;
        let shown = |pu: u32| pu.max(start).min(end);
        Some(shown(pus.start)..shown(pus.end))
    }

    /// The object in a slot of the child lists, shown or not.
    #[inline]
    pub(crate) fn child(self, slot: u32) -> u32 {
        match self.seen.is_in_order {
            true => self.seen.tree.child(slot),
            false => self.moved_child(slot),
        }
    }

    /// The same where objects moved.
    #[inline(never)]
    fn moved_child(self, slot: u32) -> u32 {
        self.seen.overlay.map_or(0, |overlay| overlay.moved.children.get_u32(slot as usize))
    }

    /// The object above another, where objects moved.
    #[inline(never)]
    pub(crate) fn moved_parent(self, id: u32) -> u32 {
        self.seen.overlay.map_or(0, |overlay| overlay.moved.parent_of(overlay.place_of(id)))
    }

    /// Slots of the children of an object, where objects moved.
    #[inline(never)]
    pub(crate) fn moved_child_slots(self, id: u32) -> Range<u32> {
        self.seen.overlay.map_or(0..0, |overlay| overlay.child_slots(overlay.place_of(id)))
    }
}
