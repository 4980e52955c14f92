//! Where objects are: their places in what is shown, and their numbers in the topology.

use crate::topology::Topology;
use std::ops::Range;

impl Topology<'_> {
    /// Whether objects follow each other as in the topology itself.
    #[inline]
    pub(crate) fn is_in_order(self) -> bool {
        self.overlay.is_none_or(|overlay| !overlay.has_moved())
    }

    /// Whether an object is shown.
    #[inline]
    pub(crate) fn shows(self, id: u32) -> bool {
        self.overlay.is_none_or(|overlay| overlay.shows(id))
    }

    /// Place of an object that is shown, from 0, over all levels.
    #[inline]
    pub(crate) fn place_of(self, id: u32) -> u32 {
        self.overlay.map_or(id, |overlay| overlay.place_of(id))
    }

    /// The object at a place.
    #[inline]
    pub(crate) fn id_at(self, place: u32) -> u32 {
        self.overlay.map_or(place, |overlay| overlay.object_at(place).unwrap_or(0))
    }

    /// The level of the topology that a level of what is shown is of.
    #[inline]
    pub(crate) fn base_level(self, level: usize) -> usize {
        match self.overlay {
            None => level,
            Some(overlay) => overlay.base_level.get(level).map_or(level, |base| usize::from(*base)),
        }
    }

    /// Numbers of the objects of a level of the topology, shown or not.
    #[inline]
    pub(crate) fn base_ids(self, base_level: usize) -> Range<u32> {
        let levels = &self.archive.levels;
        levels.first(base_level)..levels.first(base_level + 1)
    }

    /// Those of 64 PUs that are shown, by their logical indexes in the topology from `64 * index` on.
    #[inline]
    pub(crate) fn shown_pus(self, index: u32) -> u64 {
        let Some(overlay) = self.overlay else { return u64::MAX };
        let ids = self.pu_ids();
        let first = ids.start + index * 64;
        let behind = ids.end.saturating_sub(first);
        let known = if behind < 64 { (1 << behind) - 1 } else { u64::MAX };
        overlay.shown_from(first) & known
    }

    /// The first PU shown that is not before one of the topology.
    #[inline]
    pub(crate) fn next_shown_pu(self, pu: u32) -> u32 {
        let Some(overlay) = self.overlay else { return pu };
        let ids = self.pu_ids();
        overlay.next_shown(ids.start + pu).map_or(ids.end, |id| id.min(ids.end)) - ids.start
    }

    /// The first PU that only PUs which are not shown are between and one of the topology.
    #[inline]
    pub(crate) fn first_hidden_before(self, pu: u32) -> u32 {
        if self.overlay.is_none() {
            return pu;
        }
        let hidden = (0..pu).rev().take_while(|before| !self.shows(self.pu_ids().start + before));
        hidden.last().unwrap_or(pu)
    }

    /// A range of PUs of the topology as one of those that are shown, in the topology's order.
    #[inline]
    pub(crate) fn shown_run(self, pus: &Range<u32>) -> Range<u32> {
        let Some(overlay) = self.overlay else { return pus.clone() };
        let first = self.pu_ids().start;
        let before = |pu: u32| overlay.shown_before(first + pu);
        let none = overlay.shown_before(first);
        before(pus.start) - none..before(pus.end) - none
    }
}
