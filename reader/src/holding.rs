//! From PUs to the objects that they are below.

use crate::extent::is_part;
use crate::object::Object;
use crate::search::partition_point;
use crate::topology::Topology;
use std::ops::Range;

impl<'a> Topology<'a> {
    /// The PU of a logical index.
    #[inline]
    pub(crate) fn pu(self, logical_index: u32) -> Object<'a> {
        Object::new(self, self.pu_ids().start + logical_index)
    }

    /// Whether the cpuset of every normal and memory object is its run of PUs, as nearly always. Then
    /// sets can be compared as intervals of PUs.
    #[inline]
    pub(crate) fn has_runs(self) -> bool {
        self.pus_of_level(0) != 0
    }

    /// Whether also objects follow each other as their runs do, so that they are found by these.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.has_runs() && self.is_in_order()
    }

    /// The level of the topology that a depth is.
    #[inline]
    pub(crate) fn base_level_of_depth(self, depth: i32) -> Option<usize> {
        self.level_of_depth(depth).map(|level| self.base_level(level))
    }

    /// PUs, shown or not, of each object of a level of the topology, 0 where they differ.
    #[inline]
    pub(crate) fn pus_of_level(self, level: usize) -> u32 {
        self.archive.levels.row(level).map_or(0, |row| row.pus())
    }

    /// The lowest object that the PUs from `low` to `high` are below or are.
    #[inline]
    pub(crate) fn lowest_holding(self, low: u32, high: u32) -> Object<'a> {
        let levels = &self.archive.levels;
        let different_bits = u32::BITS - (low ^ high).leading_zeros();
        let level =
            levels.common.get(different_bits as usize).map_or(0, |level| usize::from(*level));
        match level.checked_sub(1).and_then(|level| levels.row(level)) {
            // Blocks of a power of two: the same block exactly if only lower bits differ.
            Some(row) if row.pus().is_power_of_two() && low ^ high < row.pus() => {
                Object::new(self, row.first.to_native() + (low >> row.pus().trailing_zeros()))
            }
            _ => self.lowest_above(level, low, high),
        }
    }

    /// The same, on one of the first `levels` of the tree of CPUs, 0 if these are not known. `low` is not above `high`.
    fn lowest_above(self, levels: usize, low: u32, high: u32) -> Object<'a> {
        for level in (0..levels).rev() {
            if level == 0 {
                return self.root();
            }
            let each = self.pus_of_level(level);
            if each == 0 {
                break;
            }
            let block = blocks(low, each);
            if high - block * each < each {
                return Object::new(self, self.archive.levels.first(level) + block);
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
        for level in 0..self.archive.levels.normal.to_native() as usize {
            match self.pus_of_level(level) {
                0 => break,
                each if pus.end - pus.start < each => {}
                each => {
                    let block = blocks(pu, each);
                    if block * each >= pus.start && (block + 1) * each <= pus.end {
                        return Object::new(self, self.archive.levels.first(level) + block);
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

    /// Numbers of the objects of a level of the topology, shown or not, whose PUs are in a range of
    /// PUs that ends where objects of that level do; also objects without PUs.
    #[inline]
    pub(crate) fn objects_of_level_in(self, level: usize, pus: Range<u32>) -> Range<u32> {
        let ids = self.base_ids(level);
        let from = |pu: u32| match self.pus_of_level(level) {
            0 => self.first_of_level(&ids, |object| object.base_pus().start < pu),
            each => (ids.start + blocks(pu, each)).min(ids.end),
        };
        from(pus.start)..from(pus.end)
    }

    fn first_of_level(self, ids: &Range<u32>, before: impl Fn(Object<'a>) -> bool) -> u32 {
        let rows = ids.start as usize..ids.end as usize;
        let before = |id: usize| before(Object::new(self, u32::try_from(id).unwrap_or(u32::MAX)));
        u32::try_from(partition_point(rows, before)).unwrap_or(u32::MAX)
    }
}

/// Whole blocks of `size` before `pu`.
#[inline]
pub(crate) fn blocks(pu: u32, size: u32) -> u32 {
    if size.is_power_of_two() { pu >> size.trailing_zeros() } else { pu / size }
}
