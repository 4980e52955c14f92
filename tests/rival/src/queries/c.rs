//! The functions of `queries.c`.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

pub(super) type O = *mut c_void;
pub(super) type T = *mut c_void;
pub(super) type S = *mut c_void;

macro_rules! functions {
    ($($name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        unsafe extern "C" { $(pub(super) fn $name($($argument: $kind),*) $(-> $result)?;)* }
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
    rival_sum_children(t: T) -> u64;
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
pub(super) use ask;
