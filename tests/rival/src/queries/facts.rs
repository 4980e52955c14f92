//! Queries that return numbers and sets.

use super::c::*;
use super::{From, Rival, RivalObject, number};
use crate::bitmap::Bitmap;
use std::ffi::{CStr, c_ulong};
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

#[allow(missing_docs, reason = "named as the queries of topobroker-reader")]
impl<'t> Rival<'t> {
    #[inline]
    pub fn count_inside(self, set: &Bitmap, depth: i32) -> u32 {
        ask!(rival_count_inside(self.raw, set.raw(), depth))
    }

    pub fn index_inside(self, set: &Bitmap, object: RivalObject<'t>) -> i32 {
        ask!(rival_index_inside(self.raw, set.raw(), object.raw))
    }

    pub fn type_depth(self, kind: ObjectType) -> i32 {
        ask!(rival_type_depth(self.raw, number(kind)))
    }

    pub fn type_or_below_depth(self, kind: ObjectType) -> i32 {
        ask!(rival_type_or_below_depth(self.raw, number(kind)))
    }

    pub fn type_or_above_depth(self, kind: ObjectType) -> i32 {
        ask!(rival_type_or_above_depth(self.raw, number(kind)))
    }

    pub fn cache_depth(self, level: u32, kind: i32) -> i32 {
        ask!(rival_cache_depth(self.raw, level, kind))
    }

    pub fn group_depth(self, level: u32) -> i32 {
        ask!(rival_group_depth(self.raw, level))
    }

    pub fn memory_parents_depth(self) -> i32 {
        ask!(rival_memory_parents_depth(self.raw))
    }

    pub fn is_in_subtree(self, object: RivalObject<'t>, root: RivalObject<'t>) -> bool {
        ask!(rival_is_in_subtree(self.raw, object.raw, root.raw)) != 0
    }

    pub fn covers_pci_bus(self, bridge: RivalObject<'t>, domain: u32, bus: u32) -> bool {
        ask!(rival_covers_pci_bus(bridge.raw, domain, bus)) != 0
    }

    pub fn memory_attribute(self, name: &CStr) -> i32 {
        ask!(rival_memory_attribute(self.raw, name.as_ptr()))
    }

    pub fn memory_value(
        self,
        attribute: i32,
        target: RivalObject<'t>,
        from: From<'_, 't>,
    ) -> Option<u64> {
        let (set, object) = from.raw();
        let mut value = 0;
        let error =
            ask!(rival_memory_value(self.raw, attribute, target.raw, set, object, &raw mut value));
        (error == 0).then_some(value)
    }

    pub fn best_target(self, attribute: i32, from: From<'_, 't>) -> Option<(RivalObject<'t>, u64)> {
        let (set, object) = from.raw();
        let mut value = 0;
        let target = ask!(rival_best_target(self.raw, attribute, set, object, &raw mut value));
        Some((self.found(target)?, value))
    }

    /// Returns only the value, because the initiator that hwloc returns belongs to hwloc.
    pub fn best_initiator(self, attribute: i32, target: RivalObject<'t>) -> Option<u64> {
        let mut value = 0;
        let error = ask!(rival_best_initiator(self.raw, attribute, target.raw, &raw mut value));
        (error == 0).then_some(value)
    }

    pub fn cpu_kind(self, set: &Bitmap) -> i32 {
        ask!(rival_cpu_kind(self.raw, set.raw()))
    }

    /// The distance in the first matrix of the topology.
    pub fn distance(self, from: RivalObject<'t>, to: RivalObject<'t>) -> Option<u64> {
        let mut value = 0;
        let error = ask!(rival_distance(self.raw, from.raw, to.raw, &raw mut value));
        (error == 0).then_some(value)
    }

    pub fn distribute(
        self,
        roots: &[RivalObject<'t>],
        count: usize,
        until: i32,
        reverse: bool,
    ) -> Vec<Set> {
        let mut roots: Vec<O> = roots.iter().map(|root| root.raw).collect();
        let mut sets = vec![std::ptr::null_mut(); count];
        ask!(rival_distribute(
            self.raw,
            roots.as_mut_ptr(),
            u32::try_from(roots.len()).unwrap_or(0),
            sets.as_mut_ptr(),
            u32::try_from(count).unwrap_or(0),
            until,
            c_ulong::from(reverse)
        ));
        sets.into_iter().map(|raw| Bitmap::from_raw(raw).to_set()).collect()
    }

    pub fn nodeset_of(self, cpuset: &Bitmap, nodeset: &mut Bitmap) {
        ask!(rival_cpuset_to_nodeset(self.raw, cpuset.raw(), nodeset.raw()));
    }

    pub fn cpuset_of_nodes(self, nodeset: &Bitmap, cpuset: &mut Bitmap) {
        ask!(rival_cpuset_from_nodeset(self.raw, cpuset.raw(), nodeset.raw()));
    }
}
