//! Queries that return objects.

use super::c::*;
use super::{From, Rival, RivalObject, number};
use crate::bitmap::Bitmap;
use std::ffi::CStr;
use topobroker_layout::object_type::ObjectType;

#[allow(missing_docs, reason = "named as the queries of topobroker-reader")]
impl<'t> Rival<'t> {
    #[inline]
    pub fn covering(self, set: &Bitmap) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_covering(self.raw, set.raw())))
    }

    #[inline]
    pub fn cache_covering(self, set: &Bitmap) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_cache_covering(self.raw, set.raw())))
    }

    #[inline]
    pub fn child_covering(self, object: RivalObject<'t>, set: &Bitmap) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_child_covering(self.raw, set.raw(), object.raw)))
    }

    #[inline]
    pub fn shared_cache(self, object: RivalObject<'t>) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_shared_cache(self.raw, object.raw)))
    }

    #[inline]
    pub fn nth_inside(self, set: &Bitmap, depth: i32, index: u32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_nth_inside(self.raw, set.raw(), depth, index)))
    }

    #[inline]
    pub fn first_largest(self, set: &Bitmap) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_first_largest(self.raw, set.raw())))
    }

    #[inline]
    pub fn object(self, depth: i32, index: u32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_object(self.raw, depth, index)))
    }

    #[inline]
    pub fn common_ancestor(
        self,
        one: RivalObject<'t>,
        two: RivalObject<'t>,
    ) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_common_ancestor(self.raw, one.raw, two.raw)))
    }

    #[inline]
    pub fn ancestor_at_depth(self, object: RivalObject<'t>, depth: i32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_ancestor_at_depth(self.raw, depth, object.raw)))
    }

    #[inline]
    pub fn ancestor_with_type(
        self,
        object: RivalObject<'t>,
        kind: ObjectType,
    ) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_ancestor_with_type(self.raw, number(kind), object.raw)))
    }

    #[inline]
    pub fn non_io_ancestor(self, object: RivalObject<'t>) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_non_io_ancestor(self.raw, object.raw)))
    }

    #[inline]
    pub fn below(
        self,
        above: (ObjectType, u32),
        below: (ObjectType, u32),
    ) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_below(self.raw, number(above.0), above.1, number(below.0), below.1)))
    }

    #[inline]
    pub fn pu_by_os_index(self, index: u32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_pu_by_os_index(self.raw, index)))
    }

    #[inline]
    pub fn numa_node_by_os_index(self, index: u32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_numa_node_by_os_index(self.raw, index)))
    }

    #[inline]
    pub fn os_device(self, name: &CStr) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_os_device(self.raw, name.as_ptr())))
    }

    #[inline]
    pub fn pci_device(self, bus_id: [u32; 4]) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_pci_device(self.raw, bus_id[0], bus_id[1], bus_id[2], bus_id[3])))
    }

    #[inline]
    pub fn with_same_locality(
        self,
        object: RivalObject<'t>,
        kind: ObjectType,
    ) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_with_same_locality(
            self.raw,
            object.raw,
            number(kind),
            std::ptr::null(),
            std::ptr::null()
        )))
    }

    pub fn objects_covering(
        self,
        set: &Bitmap,
        depth: i32,
    ) -> impl Iterator<Item = RivalObject<'t>> {
        self.each(move |last| ask!(rival_next_covering(self.raw, set.raw(), depth, last)))
    }

    pub fn objects_inside(self, set: &Bitmap, depth: i32) -> impl Iterator<Item = RivalObject<'t>> {
        self.each(move |last| ask!(rival_next_inside(self.raw, set.raw(), depth, last)))
    }

    pub fn largest(self, set: &Bitmap, most: usize) -> Option<Vec<RivalObject<'t>>> {
        self.list(most, |found, most| {
            ask!(rival_largest(self.raw, set.raw(), found, most.cast_signed()))
        })
    }

    pub fn closest(self, object: RivalObject<'t>, most: usize) -> Vec<RivalObject<'t>> {
        let fill = |found, most| ask!(rival_closest(self.raw, object.raw, found, most));
        self.list(most, |found, most| fill(found, most).cast_signed()).unwrap_or_default()
    }

    pub fn local_numa_nodes(self, from: From<'_, 't>, flags: u64) -> Vec<RivalObject<'t>> {
        let (set, object) = from.raw();
        self.list(1024, |found, most| {
            ask!(rival_local_numa_nodes(self.raw, set, object, flags, found, most))
        })
        .unwrap_or_default()
    }
}
