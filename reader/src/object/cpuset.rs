//! Comparisons of an object's cpuset with another set, without building the cpuset.

use super::Object;
use topobroker_layout::set::Set;
use topobroker_layout::tree::Member;

impl Object<'_> {
    /// Whether the cpuset is not empty and is included in `set`. This is the rule of hwloc's
    /// queries for objects inside a set. Always false for I/O and Misc objects. Counterparts:
    /// `hwloc_bitmap_iszero` and `hwloc_bitmap_isincluded` of `cpuset` and a set.
    #[must_use]
    #[inline]
    pub fn is_inside(self, set: &Set) -> bool {
        let extent = self.index.extent(self.id());
        extent.is_some_and(|extent| !extent.is_empty() && extent.is_inside(set))
    }

    /// Whether the cpuset and `set` have a PU in common. Always false for I/O and Misc objects.
    /// Counterpart: `hwloc_bitmap_intersects` of `cpuset` and a set.
    #[must_use]
    #[inline]
    pub fn intersects(self, set: &Set) -> bool {
        self.index.extent(self.id()).is_some_and(|extent| extent.intersects(set))
    }

    /// Whether all of `set` is in the cpuset. Always false for I/O and Misc objects. Counterpart:
    /// `hwloc_bitmap_isincluded` of a set and `cpuset`.
    #[must_use]
    pub fn covers(self, set: &Set) -> bool {
        self.index.extent(self.id()).is_some_and(|extent| extent.covers(set))
    }

    /// Number of PUs in the cpuset; `None` for I/O and Misc objects, and for an infinite set.
    /// Counterpart: `hwloc_bitmap_weight` of `cpuset`.
    #[must_use]
    #[inline]
    pub fn cpuset_weight(self) -> Option<u32> {
        let index = self.index;
        // Fast path: without it, the weights of all objects take twice as long as hwloc's.
        if !index.has_runs {
            return index.extent(self.id())?.weight();
        }
        index.has_sets(self.id()).then(|| {
            let Member { pu_first, pu_count, .. } = index.tree.member(self.id());
            let pus = pu_first..pu_first + pu_count;
            let visible = index.visible_run(&pus);
            visible.end - visible.start
        })
    }
}
