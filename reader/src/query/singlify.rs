//! One PU of each core.

use crate::topology::Topology;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

impl Topology<'_> {
    /// Keeps one PU of each core in `set`: the `index`th of the PUs of the core that are in `set`,
    /// by OS index. Removes all PUs of a core that has fewer in `set`. PUs outside cores stay.
    /// Counterpart: `hwloc_bitmap_singlify_per_core`, which removes nothing if cores are at several
    /// depths.
    #[doc(alias = "hwloc_bitmap_singlify_per_core")]
    pub fn singlify_per_core(self, set: &mut Set, index: usize) {
        let mut pus = Set::new();
        for core in self.objects_with_type(ObjectType::Core) {
            core.copy_cpuset(&mut pus);
            let mut in_both = pus.iter().filter(|pu| set.contains(*pu));
            let kept = in_both.nth(index);
            if kept.is_some() || pus.intersects(set) {
                *set = set.and_not(&pus);
                kept.into_iter().for_each(|pu| set.insert(pu));
            }
        }
    }
}
