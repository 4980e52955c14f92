//! hwloc's queries, for tests and benchmarks that ask both hwloc and topobroker. `queries.c` has
//! the C side. A method here has the name of a query of `topobroker-reader`, and calls the hwloc
//! function that is the counterpart of that query.

mod c;
mod facts;
mod loops;
mod objects;

use crate::bitmap::Bitmap;
use c::{O, S, ask, rival_bitmap_copy, rival_depth, rival_logical_index};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use topobroker::hwloc::HwlocTopology;
use topobroker_layout::object_type::ObjectType;

/// An hwloc topology, for queries.
#[derive(Debug, Clone, Copy)]
pub struct Rival<'t> {
    raw: *mut c_void,
    topology: PhantomData<&'t ()>,
}

/// An hwloc object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RivalObject<'t> {
    raw: *mut c_void,
    topology: PhantomData<&'t ()>,
}

/// Depth and logical index of an object.
pub type Place = (i32, u32);

impl<'t> Rival<'t> {
    /// Wraps a loaded topology.
    pub fn new(topology: &'t HwlocTopology<'_>) -> Self {
        Self { raw: topology.as_raw(), topology: PhantomData }
    }

    fn found(self, raw: O) -> Option<RivalObject<'t>> {
        (!raw.is_null()).then_some(RivalObject { raw, topology: PhantomData })
    }

    fn list(
        self,
        most: usize,
        fill: impl FnOnce(*mut O, u32) -> c_int,
    ) -> Option<Vec<RivalObject<'t>>> {
        let mut found = vec![std::ptr::null_mut(); most];
        let count = fill(found.as_mut_ptr(), u32::try_from(most).ok()?);
        let count = usize::try_from(count).ok()?;
        Some(found.into_iter().take(count).filter_map(|raw| self.found(raw)).collect())
    }

    fn each(self, mut next: impl FnMut(O) -> O) -> impl Iterator<Item = RivalObject<'t>> {
        let mut last = std::ptr::null_mut();
        std::iter::from_fn(move || {
            last = next(last);
            self.found(last)
        })
    }
}

/// The initiator of memory accesses: from where memory is used.
#[derive(Debug, Clone, Copy)]
pub enum From<'s, 't> {
    /// No initiator.
    Anywhere,
    /// From these PUs.
    Cpuset(&'s Bitmap),
    /// From an object.
    Object(RivalObject<'t>),
}

impl From<'_, '_> {
    fn raw(self) -> (S, O) {
        match self {
            Self::Anywhere => (std::ptr::null_mut(), std::ptr::null_mut()),
            Self::Cpuset(set) => (set.raw(), std::ptr::null_mut()),
            Self::Object(object) => (std::ptr::null_mut(), object.raw),
        }
    }
}

impl RivalObject<'_> {
    /// Copies the cpuset of the object into `cpuset`.
    pub fn copy_cpuset(self, cpuset: &mut Bitmap) {
        ask!(rival_bitmap_copy(cpuset.raw(), self.raw));
    }

    /// A number that identifies the object, without reading the object.
    #[inline]
    pub fn address(self) -> usize {
        self.raw.addr()
    }

    /// Depth and logical index.
    pub fn place(self) -> Place {
        (ask!(rival_depth(self.raw)), ask!(rival_logical_index(self.raw)))
    }
}

fn number(kind: ObjectType) -> c_int {
    c_int::from(kind.raw())
}
