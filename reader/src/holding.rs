//! From PUs to the objects that they are below.

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

    /// Whether the cpuset of every object of the tree of CPUs is the PUs below it, as nearly
    /// always. Then sets can be compared as intervals of PUs.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.pus_of_level(0) != 0
    }

    /// PUs of each object of a level, 0 where they differ.
    #[inline]
    pub(crate) fn pus_of_level(self, level: usize) -> u32 {
        self.archive.levels.pus.get(level).map_or(0, |pus| pus.to_native())
    }

    /// The lowest object that the PUs from `low` to `high` are below or are.
    #[inline]
    pub(crate) fn lowest_holding(self, low: u32, high: u32) -> Object<'a> {
        let levels = self.archive.levels.pus.as_slice();
        for (level, pus) in levels.iter().map(|pus| pus.to_native()).enumerate().rev() {
            if !pus.is_power_of_two() {
                break;
            }
            // Blocks of a power of two: the same block exactly if only lower bits differ.
            if low ^ high < pus {
                let first = self.archive.levels.first.get_u32(level);
                return self.at_level(level, first + (low >> pus.trailing_zeros()));
            }
        }
        let mut object = self.pu(low);
        while !object.pus().contains(&high) {
            match object.parent() {
                Some(parent) => object = parent,
                None => break,
            }
        }
        object
    }

    /// The object of a level that a PU is below or is.
    #[inline]
    pub(crate) fn object_of_level_holding(self, level: usize, pu: u32) -> Option<Object<'a>> {
        let ids = self.level_ids(level);
        let id = match self.pus_of_level(level) {
            0 => self.first_of_level(&ids, |object| object.pus().end <= pu),
            pus => ids.start + blocks(pu, pus),
        };
        (id < ids.end).then(|| Object::new(self, id)).filter(|object| object.pus().contains(&pu))
    }

    /// The objects of a level whose PUs are in a range of PUs that ends where objects of that
    /// level do; also objects without PUs.
    #[inline]
    pub(crate) fn objects_of_level_in(self, level: usize, pus: Range<u32>) -> Range<u32> {
        let ids = self.level_ids(level);
        let from = |pu: u32| match self.pus_of_level(level) {
            0 => self.first_of_level(&ids, |object| object.pus().start < pu),
            each => (ids.start + blocks(pu, each)).min(ids.end),
        };
        from(pus.start)..from(pus.end)
    }

    fn first_of_level(self, ids: &Range<u32>, before: impl Fn(Object<'a>) -> bool) -> u32 {
        let rows = ids.start as usize..ids.end as usize;
        let before = |id: usize| before(Object::new(self, u32::try_from(id).unwrap_or(u32::MAX)));
        u32::try_from(partition_point(rows, before)).unwrap_or(u32::MAX)
    }

    /// An object by a number that should be of its level, else the last one there.
    #[inline]
    fn at_level(self, level: usize, id: u32) -> Object<'a> {
        let end = self.archive.levels.first.get_u32(level + 1);
        Object::new(self, id.min(end.saturating_sub(1)))
    }
}

/// Whole blocks of `size` before `pu`.
#[inline]
fn blocks(pu: u32, size: u32) -> u32 {
    if size.is_power_of_two() { pu >> size.trailing_zeros() } else { pu / size }
}
