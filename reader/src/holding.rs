//! From PUs to the objects that they are below.

use crate::blocks::blocks;
use crate::extent::is_part;
use crate::object::Object;
use crate::search::partition_point;
use crate::topology::Topology;
use std::ops::Range;
use topobroker_layout::levels::ArchivedLevel;
use topobroker_layout::set::Set;

impl<'a> Topology<'a> {
    /// The PU of a logical index.
    #[inline]
    pub(crate) fn pu(self, logical_index: u32) -> Object<'a> {
        Object::new(self, self.pu_ids().start + logical_index)
    }

    /// Whether also objects follow each other as their runs do, so that they are found by these.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.seen.has_runs && self.seen.is_in_order
    }

    /// The level of the topology that a depth is.
    #[inline]
    pub(crate) fn base_level_of_depth(self, depth: i32) -> Option<usize> {
        self.level_of_depth(depth).map(|level| self.base_level(level))
    }

    /// PUs, shown or not, of each object of a level of the topology, 0 where they differ.
    #[inline]
    pub(crate) fn pus_of_level(self, level: usize) -> u32 {
        self.seen.base_levels.get(level).map_or(0, ArchivedLevel::pus)
    }

    /// The lowest object that two PUs, and so all between them, are below or are.
    #[inline]
    pub(crate) fn lowest_holding(self, one: u32, other: u32) -> Object<'a> {
        match self.seen.common.of(one, other) {
            Some(id) => Object::new(self, id),
            None => self.lowest_above(one.min(other), one.max(other)),
        }
    }

    /// The same on any machine.
    #[inline(never)]
    fn lowest_above(self, low: u32, high: u32) -> Object<'a> {
        let different_bits = u32::BITS - (low ^ high).leading_zeros();
        let common = &self.seen.archive.levels.common;
        let levels = common.get(different_bits as usize).map_or(0, |level| usize::from(*level));
        for row in self.seen.base_levels.iter().take(levels).rev() {
            let each = row.pus();
            if each == 0 {
                break;
            }
            if row.first() == 0 {
                return self.root();
            }
            if high - low >= each {
                continue;
            }
            let block = blocks(low, each);
            if high - block * each < each {
                return Object::new(self, row.first() + block);
            }
        }
        let mut object = self.pu(low);
        while !object.base_pus().contains(&high) {
            match object.parent() {
                Some(parent) => object = parent,
                None => break,
            }
        }
        object
    }

    /// The largest object that has a PU and no others than those of a range around it.
    #[inline]
    pub(crate) fn largest_within(self, pus: &Range<u32>, pu: u32) -> Object<'a> {
        for row in self.seen.archive.levels.normal_rows() {
            match row.pus() {
                0 => break,
                each if pus.end - pus.start < each => {}
                each => {
                    let block = blocks(pu, each);
                    if block * each >= pus.start && (block + 1) * each <= pus.end {
                        return Object::new(self, row.first() + block);
                    }
                }
            }
        }
        let mut largest = self.pu(pu);
        while let Some(parent) = largest.parent() {
            if !is_part(&parent.base_pus(), pus) {
                break;
            }
            largest = parent;
        }
        largest
    }

    /// The largest object that has a PU of a set and no others than those of the set.
    pub(crate) fn largest_inside(self, set: &Set, pu: u32) -> Object<'a> {
        let mut largest = self.pu(pu);
        for row in self.seen.archive.levels.normal_rows().iter().rev() {
            let each = row.pus();
            if each == 0 {
                return self.climb_inside(set, largest);
            }
            let block = blocks(pu, each);
            if !self.has_all(set, block * each..(block + 1) * each) {
                break;
            }
            largest = Object::new(self, row.first() + block);
        }
        largest
    }

    /// The same, from an object inside the set.
    fn climb_inside(self, set: &Set, object: Object<'a>) -> Object<'a> {
        let inside = |object: &Object<'a>| self.has_all(set, object.base_pus());
        object.ancestors().take_while(inside).last().unwrap_or(object)
    }

    /// The object of a level of the topology that a PU is below or is.
    #[inline]
    pub(crate) fn object_of_level_holding(self, level: usize, pu: u32) -> Option<Object<'a>> {
        let ids = self.base_ids(level);
        let id = match self.pus_of_level(level) {
            0 => self.first_of_level(&ids, |object| object.base_pus().end <= pu),
            pus => ids.start + blocks(pu, pus),
        };
        (id < ids.end)
            .then(|| Object::new(self, id))
            .filter(|object| object.base_pus().contains(&pu))
    }

    /// Numbers of the objects of a level of the topology, shown or not, with PUs in a range. Where they are no blocks
    /// the range must begin and end as objects do, and also those without PUs are among them.
    #[inline]
    pub(crate) fn objects_of_level_in(self, level: usize, pus: Range<u32>) -> Range<u32> {
        let ids = self.base_ids(level);
        match (self.pus_of_level(level), pus.is_empty()) {
            (0, _) => {
                let from = |pu| self.first_of_level(&ids, |object| object.base_pus().start < pu);
                from(pus.start)..from(pus.end)
            }
            (_, true) => ids.start..ids.start,
            (each, false) => {
                let block = |pu| (ids.start + blocks(pu, each)).min(ids.end);
                block(pus.start)..ids.end.min(block(pus.end - 1) + 1)
            }
        }
    }

    fn first_of_level(self, ids: &Range<u32>, before: impl Fn(Object<'a>) -> bool) -> u32 {
        partition_point(ids.clone(), |id| before(Object::new(self, id)))
    }
}
