//! Queries in a loop of C, for benchmarks: what a C program pays for all results.

use super::c::*;
use super::{From, Rival, RivalObject};
use crate::bitmap::Bitmap;
use std::ffi::{c_int, c_void};

impl<'t> Rival<'t> {
    /// The sum of the addresses of the objects of [`Rival::objects_inside`], so that none is left
    /// out.
    pub fn sum_inside(self, set: &Bitmap, depth: i32) -> u64 {
        ask!(rival_sum_inside(self.raw, set.raw(), depth))
    }

    /// The sum of the addresses of the objects of [`Rival::largest`]. Only for one thread at a
    /// time, because `queries.c` stores the objects in a static array.
    pub fn sum_largest(self, set: &Bitmap) -> u64 {
        ask!(rival_sum_largest(self.raw, set.raw()))
    }

    /// The sum of the addresses of the objects of [`Rival::closest`]. Only for one thread at a
    /// time, because `queries.c` stores the objects in a static array.
    pub fn sum_closest(self, object: RivalObject<'t>, most: u32) -> u64 {
        ask!(rival_sum_closest(self.raw, object.raw, most))
    }

    /// The sum of the addresses of the nodes of [`Rival::local_numa_nodes`]. Only for one thread at
    /// a time, because `queries.c` stores the nodes in a static array.
    pub fn sum_local(self, from: From<'_, 't>, flags: u64) -> u64 {
        let (set, object) = from.raw();
        ask!(rival_sum_local(self.raw, set, object, flags))
    }

    /// Distributes the PUs below an object into `sets`, and frees the sets that hwloc stored there.
    pub fn distribute_and_free(self, root: RivalObject<'t>, sets: &mut [*mut c_void]) {
        let count = u32::try_from(sets.len()).unwrap_or(0);
        ask!(rival_distribute_and_free(self.raw, root.raw, sets.as_mut_ptr(), count));
    }

    /// Visits every normal object and NUMA node, and returns the sum of the weights of their
    /// cpusets, or of their logical indexes.
    pub fn traverse(self, weights: bool) -> u64 {
        ask!(rival_traverse(self.raw, c_int::from(weights)))
    }

    /// Visits the children of every normal object, and returns the sum of their addresses.
    pub fn sum_children(self) -> u64 {
        ask!(rival_sum_children(self.raw))
    }

    /// Visits an object and all normal objects below it, and returns the sum of their logical
    /// indexes.
    pub fn descend(self, object: RivalObject<'t>) -> u64 {
        ask!(rival_descend(object.raw))
    }
}
