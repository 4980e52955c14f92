//! Finds objects by their PUs.

use super::Index;
use super::regular::block_of;
use core::ops::Range;
use topobroker_layout::column::partition_point;
use topobroker_layout::set::Set;

impl Index<'_> {
    /// The lowest common ancestor of two PUs. It also has all PUs between them.
    #[inline]
    pub(crate) fn lowest_with(&self, one: u32, other: u32) -> u32 {
        // Fast path: with that of `search_lowest`, up to 14 times as fast.
        match self.common_ancestor.of(one, other) {
            Some(id) => id,
            None => self.search_lowest(one.min(other), one.max(other)),
        }
    }

    /// [`Index::lowest_with`] if the lookup has no answer.
    fn search_lowest(&self, low: u32, high: u32) -> u32 {
        // Fast path: with that of `lowest_with`, up to 14 times as fast.
        let different_bits = u32::BITS - (low ^ high).leading_zeros();
        let common = &self.archive.levels.common;
        let levels = common.get(different_bits as usize).map_or(0, |level| usize::from(*level));
        for row in self.base_levels.iter().take(levels).rev() {
            let each = row.pus();
            if each == 0 {
                break;
            }
            if row.first() == 0 {
                return 0;
            }
            if high - low >= each {
                continue;
            }
            let block = block_of(low, each);
            if high - block * each < each {
                return row.first() + block;
            }
        }
        let mut object = self.pu_ids().start + low;
        while !self.pus_of(object).contains(&high) {
            match self.parent(object) {
                Some(parent) => object = parent,
                None => break,
            }
        }
        object
    }

    /// The largest object that has `pu` and no PU outside `pus`. The range `pus` must include `pu`.
    #[inline]
    pub(crate) fn largest_within(&self, pus: &Range<u32>, pu: u32) -> u32 {
        self.climb(self.pu_ids().start + pu, |own| is_within(own, pus))
    }

    /// The largest object that has `pu` and whose visible PUs are all in a set. The set must have
    /// `pu`.
    pub(crate) fn largest_inside(&self, set: &Set, pu: u32) -> u32 {
        self.climb(self.pu_ids().start + pu, |pus| self.has_all(set, pus.clone()))
    }

    /// Climbs from `id` to its ancestors as long as `holds` is true of the PUs of the next one, and
    /// returns the last object reached.
    fn climb(&self, id: u32, holds: impl Fn(&Range<u32>) -> bool) -> u32 {
        let mut highest = id;
        while let Some(parent) = self.parent(highest) {
            if !holds(&self.pus_of(parent)) {
                break;
            }
            highest = parent;
        }
        highest
    }

    /// The object of a base level that has a PU.
    #[inline]
    pub(crate) fn object_of_level_with(&self, level: usize, pu: u32) -> Option<u32> {
        let ids = self.base_ids(level);
        let id = partition_point(ids.clone(), |id| self.pus_of(id).end <= pu);
        (id < ids.end && self.pus_of(id).contains(&pu)).then_some(id)
    }

    /// Numbers of the objects of a base level, visible or hidden, with PUs in a range. If the level
    /// is not regular, the range must begin and end at boundaries of objects, and the result
    /// includes objects without PUs that lie in between.
    #[inline]
    pub(crate) fn objects_of_level_in(&self, level: usize, pus: Range<u32>) -> Range<u32> {
        let ids = self.base_ids(level);
        match (self.pus_of_level(level), pus.is_empty()) {
            (0, _) => {
                let from = |pu| partition_point(ids.clone(), |id| self.pus_of(id).start < pu);
                from(pus.start)..from(pus.end)
            }
            (_, true) => ids.start..ids.start,
            (each, false) => {
                let block = |pu| (ids.start + block_of(pu, each)).min(ids.end);
                block(pus.start)..ids.end.min(block(pus.end - 1) + 1)
            }
        }
    }
}

/// Whether all PUs of a range are in another range.
#[inline]
pub(crate) fn is_within(inner: &Range<u32>, outer: &Range<u32>) -> bool {
    inner.is_empty() || (outer.start <= inner.start && inner.end <= outer.end)
}

/// Whether two ranges have PUs in common.
#[inline]
pub(crate) fn overlap(one: &Range<u32>, other: &Range<u32>) -> bool {
    one.start.max(other.start) < one.end.min(other.end)
}
