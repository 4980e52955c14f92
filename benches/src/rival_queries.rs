//! hwloc's queries, for tests and benchmarks that ask both hwloc and topobroker. `queries.c` has
//! the C side. A method here has the name of a query of `topobroker-reader`, and calls the hwloc
//! function that is the counterpart of that query.

use crate::rival_bitmap::Bitmap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use std::marker::PhantomData;
use topobroker::hwloc::HwlocTopology;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

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

type O = *mut c_void;
type T = *mut c_void;
type S = *mut c_void;

macro_rules! functions {
    ($($name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        unsafe extern "C" { $(fn $name($($argument: $kind),*) $(-> $result)?;)* }
    };
}

functions! {
    rival_depth(o: O) -> c_int;
    rival_logical_index(o: O) -> c_uint;
    rival_covering(t: T, s: S) -> O;
    rival_child_covering(t: T, s: S, o: O) -> O;
    rival_next_covering(t: T, s: S, d: c_int, o: O) -> O;
    rival_cache_covering(t: T, s: S) -> O;
    rival_shared_cache(t: T, o: O) -> O;
    rival_cache_depth(t: T, level: c_uint, kind: c_int) -> c_int;
    rival_next_inside(t: T, s: S, d: c_int, o: O) -> O;
    rival_count_inside(t: T, s: S, d: c_int) -> c_uint;
    rival_nth_inside(t: T, s: S, d: c_int, i: c_uint) -> O;
    rival_index_inside(t: T, s: S, o: O) -> c_int;
    rival_first_largest(t: T, s: S) -> O;
    rival_largest(t: T, s: S, found: *mut O, most: c_int) -> c_int;
    rival_sum_inside(t: T, s: S, d: c_int) -> u64;
    rival_object(t: T, d: c_int, i: c_uint) -> O;
    rival_type_depth(t: T, kind: c_int) -> c_int;
    rival_type_or_below_depth(t: T, kind: c_int) -> c_int;
    rival_type_or_above_depth(t: T, kind: c_int) -> c_int;
    rival_memory_parents_depth(t: T) -> c_int;
    rival_group_depth(t: T, level: c_uint) -> c_int;
    rival_common_ancestor(t: T, a: O, b: O) -> O;
    rival_ancestor_at_depth(t: T, d: c_int, o: O) -> O;
    rival_ancestor_with_type(t: T, kind: c_int, o: O) -> O;
    rival_is_in_subtree(t: T, o: O, root: O) -> c_int;
    rival_non_io_ancestor(t: T, o: O) -> O;
    rival_below(t: T, kind1: c_int, i1: c_uint, kind2: c_int, i2: c_uint) -> O;
    rival_pu_by_os_index(t: T, i: c_uint) -> O;
    rival_numa_node_by_os_index(t: T, i: c_uint) -> O;
    rival_closest(t: T, o: O, found: *mut O, most: c_uint) -> c_uint;
    rival_with_same_locality(t: T, o: O, kind: c_int, a: *const c_char, b: *const c_char) -> O;
    rival_local_numa_nodes(t: T, s: S, o: O, f: c_ulong, found: *mut O, most: c_uint) -> c_int;
    rival_memory_attribute(t: T, name: *const c_char) -> c_int;
    rival_memory_value(t: T, id: c_int, target: O, s: S, o: O, value: *mut u64) -> c_int;
    rival_best_target(t: T, id: c_int, s: S, o: O, value: *mut u64) -> O;
    rival_best_initiator(t: T, id: c_int, target: O, value: *mut u64) -> c_int;
    rival_cpu_kind(t: T, s: S) -> c_int;
    rival_distance(t: T, from: O, to: O, value: *mut u64) -> c_int;
    rival_sum_largest(t: T, s: S) -> u64;
    rival_sum_closest(t: T, o: O, most: c_uint) -> u64;
    rival_sum_local(t: T, s: S, o: O, f: c_ulong) -> u64;
    rival_distribute(t: T, roots: *mut O, n: c_uint, sets: *mut S, count: c_uint, until: c_int, f: c_ulong) -> c_int;
    rival_distribute_and_free(t: T, root: O, sets: *mut S, n: c_uint);
    rival_cpuset_to_nodeset(t: T, s: S, n: S) -> c_int;
    rival_cpuset_from_nodeset(t: T, s: S, n: S) -> c_int;
    rival_bitmap_copy(out: S, o: O) -> c_int;
    rival_pci_device(t: T, domain: c_uint, bus: c_uint, dev: c_uint, func: c_uint) -> O;
    rival_covers_pci_bus(o: O, domain: c_uint, bus: c_uint) -> c_int;
    rival_os_device(t: T, name: *const c_char) -> O;
    rival_traverse(t: T, weights: c_int) -> u64;
    rival_descend(o: O) -> u64;
}

/// Calls a function of `queries.c`.
macro_rules! ask {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the topology lives and is not modified for the lifetime of its handle. Objects
        // belong to it, a set lives as long as its owner, and the length of an output is passed
        // with it.
        unsafe { $function($($argument),*) }
    };
}

impl<'t> Rival<'t> {
    /// Wraps a loaded topology.
    #[must_use]
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

#[allow(missing_docs, reason = "named as the queries of topobroker-reader")]
impl<'t> Rival<'t> {
    #[must_use]
    #[inline]
    pub fn covering(self, set: &Bitmap) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_covering(self.raw, set.raw())))
    }

    #[must_use]
    #[inline]
    pub fn cache_covering(self, set: &Bitmap) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_cache_covering(self.raw, set.raw())))
    }

    #[must_use]
    #[inline]
    pub fn child_covering(self, object: RivalObject<'t>, set: &Bitmap) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_child_covering(self.raw, set.raw(), object.raw)))
    }

    #[must_use]
    #[inline]
    pub fn shared_cache(self, object: RivalObject<'t>) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_shared_cache(self.raw, object.raw)))
    }

    #[must_use]
    #[inline]
    pub fn nth_inside(self, set: &Bitmap, depth: i32, index: u32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_nth_inside(self.raw, set.raw(), depth, index)))
    }

    #[must_use]
    #[inline]
    pub fn first_largest(self, set: &Bitmap) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_first_largest(self.raw, set.raw())))
    }

    #[must_use]
    #[inline]
    pub fn object(self, depth: i32, index: u32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_object(self.raw, depth, index)))
    }

    #[must_use]
    #[inline]
    pub fn common_ancestor(
        self,
        one: RivalObject<'t>,
        two: RivalObject<'t>,
    ) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_common_ancestor(self.raw, one.raw, two.raw)))
    }

    #[must_use]
    #[inline]
    pub fn ancestor_at_depth(self, object: RivalObject<'t>, depth: i32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_ancestor_at_depth(self.raw, depth, object.raw)))
    }

    #[must_use]
    #[inline]
    pub fn ancestor_with_type(
        self,
        object: RivalObject<'t>,
        kind: ObjectType,
    ) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_ancestor_with_type(self.raw, number(kind), object.raw)))
    }

    #[must_use]
    #[inline]
    pub fn non_io_ancestor(self, object: RivalObject<'t>) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_non_io_ancestor(self.raw, object.raw)))
    }

    #[must_use]
    #[inline]
    pub fn below(
        self,
        above: (ObjectType, u32),
        below: (ObjectType, u32),
    ) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_below(self.raw, number(above.0), above.1, number(below.0), below.1)))
    }

    #[must_use]
    #[inline]
    pub fn pu_by_os_index(self, index: u32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_pu_by_os_index(self.raw, index)))
    }

    #[must_use]
    #[inline]
    pub fn numa_node_by_os_index(self, index: u32) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_numa_node_by_os_index(self.raw, index)))
    }

    #[must_use]
    #[inline]
    pub fn os_device(self, name: &CStr) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_os_device(self.raw, name.as_ptr())))
    }

    #[must_use]
    #[inline]
    pub fn pci_device(self, bus_id: [u32; 4]) -> Option<RivalObject<'t>> {
        self.found(ask!(rival_pci_device(self.raw, bus_id[0], bus_id[1], bus_id[2], bus_id[3])))
    }

    #[must_use]
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

    /// The sum of the addresses of the objects of [`Rival::objects_inside`], so that none is left
    /// out.
    #[must_use]
    pub fn sum_inside(self, set: &Bitmap, depth: i32) -> u64 {
        ask!(rival_sum_inside(self.raw, set.raw(), depth))
    }

    #[must_use]
    #[inline]
    pub fn count_inside(self, set: &Bitmap, depth: i32) -> u32 {
        ask!(rival_count_inside(self.raw, set.raw(), depth))
    }

    #[must_use]
    pub fn index_inside(self, set: &Bitmap, object: RivalObject<'t>) -> i32 {
        ask!(rival_index_inside(self.raw, set.raw(), object.raw))
    }

    #[must_use]
    pub fn largest(self, set: &Bitmap, most: usize) -> Option<Vec<RivalObject<'t>>> {
        self.list(most, |found, most| {
            ask!(rival_largest(self.raw, set.raw(), found, most.cast_signed()))
        })
    }

    #[must_use]
    pub fn closest(self, object: RivalObject<'t>, most: usize) -> Vec<RivalObject<'t>> {
        let fill = |found, most| ask!(rival_closest(self.raw, object.raw, found, most));
        self.list(most, |found, most| fill(found, most).cast_signed()).unwrap_or_default()
    }

    #[must_use]
    pub fn local_numa_nodes(self, from: From<'_, 't>, flags: u64) -> Vec<RivalObject<'t>> {
        let (set, object) = from.raw();
        self.list(1024, |found, most| {
            ask!(rival_local_numa_nodes(self.raw, set, object, flags, found, most))
        })
        .unwrap_or_default()
    }

    /// The sum of the addresses of the objects of [`Rival::largest`]. Only for one thread at a
    /// time, because `queries.c` stores the objects in a static array.
    #[must_use]
    pub fn sum_largest(self, set: &Bitmap) -> u64 {
        ask!(rival_sum_largest(self.raw, set.raw()))
    }

    /// The sum of the addresses of the objects of [`Rival::closest`]. Only for one thread at a
    /// time, because `queries.c` stores the objects in a static array.
    #[must_use]
    pub fn sum_closest(self, object: RivalObject<'t>, most: u32) -> u64 {
        ask!(rival_sum_closest(self.raw, object.raw, most))
    }

    /// The sum of the addresses of the nodes of [`Rival::local_numa_nodes`]. Only for one thread at
    /// a time, because `queries.c` stores the nodes in a static array.
    #[must_use]
    pub fn sum_local(self, from: From<'_, 't>, flags: u64) -> u64 {
        let (set, object) = from.raw();
        ask!(rival_sum_local(self.raw, set, object, flags))
    }

    #[must_use]
    pub fn type_depth(self, kind: ObjectType) -> i32 {
        ask!(rival_type_depth(self.raw, number(kind)))
    }

    #[must_use]
    pub fn type_or_below_depth(self, kind: ObjectType) -> i32 {
        ask!(rival_type_or_below_depth(self.raw, number(kind)))
    }

    #[must_use]
    pub fn type_or_above_depth(self, kind: ObjectType) -> i32 {
        ask!(rival_type_or_above_depth(self.raw, number(kind)))
    }

    #[must_use]
    pub fn cache_depth(self, level: u32, kind: i32) -> i32 {
        ask!(rival_cache_depth(self.raw, level, kind))
    }

    #[must_use]
    pub fn group_depth(self, level: u32) -> i32 {
        ask!(rival_group_depth(self.raw, level))
    }

    #[must_use]
    pub fn memory_parents_depth(self) -> i32 {
        ask!(rival_memory_parents_depth(self.raw))
    }

    #[must_use]
    pub fn is_in_subtree(self, object: RivalObject<'t>, root: RivalObject<'t>) -> bool {
        ask!(rival_is_in_subtree(self.raw, object.raw, root.raw)) != 0
    }

    #[must_use]
    pub fn covers_pci_bus(self, bridge: RivalObject<'t>, domain: u32, bus: u32) -> bool {
        ask!(rival_covers_pci_bus(bridge.raw, domain, bus)) != 0
    }

    #[must_use]
    pub fn memory_attribute(self, name: &CStr) -> i32 {
        ask!(rival_memory_attribute(self.raw, name.as_ptr()))
    }

    #[must_use]
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

    #[must_use]
    pub fn best_target(self, attribute: i32, from: From<'_, 't>) -> Option<(RivalObject<'t>, u64)> {
        let (set, object) = from.raw();
        let mut value = 0;
        let target = ask!(rival_best_target(self.raw, attribute, set, object, &raw mut value));
        Some((self.found(target)?, value))
    }

    /// Returns only the value, because the initiator that hwloc returns belongs to hwloc.
    #[must_use]
    pub fn best_initiator(self, attribute: i32, target: RivalObject<'t>) -> Option<u64> {
        let mut value = 0;
        let error = ask!(rival_best_initiator(self.raw, attribute, target.raw, &raw mut value));
        (error == 0).then_some(value)
    }

    #[must_use]
    pub fn cpu_kind(self, set: &Bitmap) -> i32 {
        ask!(rival_cpu_kind(self.raw, set.raw()))
    }

    /// The distance in the first matrix of the topology.
    #[must_use]
    pub fn distance(self, from: RivalObject<'t>, to: RivalObject<'t>) -> Option<u64> {
        let mut value = 0;
        let error = ask!(rival_distance(self.raw, from.raw, to.raw, &raw mut value));
        (error == 0).then_some(value)
    }

    #[must_use]
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

    /// Distributes the PUs below an object into `sets`, and frees the sets that hwloc stored there.
    pub fn distribute_and_free(self, root: RivalObject<'t>, sets: &mut [*mut c_void]) {
        let count = u32::try_from(sets.len()).unwrap_or(0);
        ask!(rival_distribute_and_free(self.raw, root.raw, sets.as_mut_ptr(), count));
    }

    pub fn nodeset_of(self, cpuset: &Bitmap, nodeset: &mut Bitmap) {
        ask!(rival_cpuset_to_nodeset(self.raw, cpuset.raw(), nodeset.raw()));
    }

    pub fn cpuset_of_nodes(self, nodeset: &Bitmap, cpuset: &mut Bitmap) {
        ask!(rival_cpuset_from_nodeset(self.raw, cpuset.raw(), nodeset.raw()));
    }

    /// Visits every normal object and NUMA node, and returns the sum of the weights of their
    /// cpusets, or of their logical indexes.
    #[must_use]
    pub fn traverse(self, weights: bool) -> u64 {
        ask!(rival_traverse(self.raw, c_int::from(weights)))
    }

    /// Visits an object and all normal objects below it, and returns the sum of their logical
    /// indexes.
    #[must_use]
    pub fn descend(self, object: RivalObject<'t>) -> u64 {
        ask!(rival_descend(object.raw))
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
    #[must_use]
    #[inline]
    pub fn address(self) -> usize {
        self.raw.addr()
    }

    /// Depth and logical index.
    #[must_use]
    pub fn place(self) -> Place {
        (ask!(rival_depth(self.raw)), ask!(rival_logical_index(self.raw)))
    }
}

fn number(kind: ObjectType) -> c_int {
    c_int::from(kind.raw())
}
