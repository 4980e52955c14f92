//! Functions that modify a topology: a handle becomes private first.

use crate::call::Call;
use crate::hwloc::{Object, Topology};
use crate::private::own_object;
use alloc::vec::Vec;
use core::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
use core::ptr::null_mut;

/// Defines functions that make the topology private, then call hwloc's function of the name.
macro_rules! modifies {
    ($(
        $(#[$about:meta])*
        $name:ident = $real:literal ($($argument:ident: $type:ty),*) -> $result:ty, or $failed:expr;
    )*) => { $(
        $(#[$about])*
        ///
        /// # Safety
        ///
        /// As for hwloc's function. `caller` is the address that it returns to.
        pub(crate) unsafe extern "C" fn $name(
            topology: Topology,
            $($argument: $type,)*
            caller: *const c_void,
        ) -> $result {
            type Real = unsafe extern "C" fn(Topology, $($type),*) -> $result;
            let Some(call) = Call::from(caller) else { return $failed };
            let Some(real) = call.function::<Real>($real) else { return $failed };
            if !call.make_private(topology) {
                return $failed;
            }
            // SAFETY: the caller's arguments are valid for hwloc's function.
            $(let $argument = unsafe { Argument::own($argument, &call, topology) };)*
            // SAFETY: it is hwloc's function, and the arguments are valid for it.
            unsafe { real(topology, $($argument),*) }
        }
    )* };
}

/// An argument of a function that modifies a topology.
trait Argument: Sized {
    /// The argument for a topology that was made private. Objects are those of the private tree.
    ///
    /// # Safety
    ///
    /// The arguments must be valid for hwloc's functions.
    unsafe fn own(self, _: &Call, _: Topology) -> Self {
        self
    }
}

impl Argument for c_int {}
impl Argument for c_uint {}
impl Argument for c_ulong {}
impl Argument for *const c_void {}
impl Argument for *mut c_void {}
impl Argument for *const c_char {}

impl Argument for *mut Object {
    unsafe fn own(self, call: &Call, topology: Topology) -> Self {
        // SAFETY: the caller vouches for the arguments.
        unsafe { own_object(call, topology, self) }
    }
}

modifies! {
    /// Stands for `hwloc_topology_restrict`.
    restrict = c"hwloc_topology_restrict"(set: *const c_void, flags: c_ulong) -> c_int, or -1;
    /// Stands for `hwloc_topology_allow`.
    allow = c"hwloc_topology_allow"(
        cpuset: *const c_void, nodeset: *const c_void, flags: c_ulong
    ) -> c_int, or -1;
    /// Stands for `hwloc_topology_refresh`.
    refresh = c"hwloc_topology_refresh"() -> c_int, or -1;
    /// Stands for `hwloc_topology_diff_apply`.
    diff_apply = c"hwloc_topology_diff_apply"(diff: *mut c_void, flags: c_ulong) -> c_int, or -1;
    /// Stands for `hwloc_obj_set_subtype` of hwloc 2.11.
    obj_set_subtype = c"hwloc_obj_set_subtype"(
        object: *mut Object, subtype: *const c_char
    ) -> c_int, or -1;
    /// Stands for `hwloc_topology_insert_misc_object`.
    insert_misc_object = c"hwloc_topology_insert_misc_object"(
        parent: *mut Object, name: *const c_char
    ) -> *mut Object, or null_mut();
    /// Stands for `hwloc_topology_alloc_group_object`.
    alloc_group_object = c"hwloc_topology_alloc_group_object"() -> *mut Object, or null_mut();
    /// Stands for `hwloc_topology_insert_group_object`.
    insert_group_object = c"hwloc_topology_insert_group_object"(
        group: *mut Object
    ) -> *mut Object, or null_mut();
    /// Stands for `hwloc_distances_add_create`.
    distances_add_create = c"hwloc_distances_add_create"(
        name: *const c_char, kind: c_ulong, flags: c_ulong
    ) -> *mut c_void, or null_mut();
    /// Stands for `hwloc_distances_remove`.
    distances_remove = c"hwloc_distances_remove"() -> c_int, or -1;
    /// Stands for `hwloc_distances_remove_by_depth`.
    distances_remove_by_depth = c"hwloc_distances_remove_by_depth"(depth: c_int) -> c_int, or -1;
    /// Stands for `hwloc_distances_release_remove`.
    distances_release_remove = c"hwloc_distances_release_remove"(
        distances: *mut c_void
    ) -> c_int, or -1;
    /// Stands for `hwloc_memattr_register`.
    memattr_register = c"hwloc_memattr_register"(
        name: *const c_char, flags: c_ulong, id: *mut c_void
    ) -> c_int, or -1;
    /// Stands for `hwloc_memattr_set_value`.
    memattr_set_value = c"hwloc_memattr_set_value"(
        attribute: c_uint, target: *mut Object, initiator: *mut c_void, flags: c_ulong, value: c_ulong
    ) -> c_int, or -1;
}

/// The objects of new distances. They may have been found before the topology was made private.
///
/// # Safety
///
/// The arguments must be valid for hwloc's functions.
unsafe fn own_objects(
    call: &Call,
    topology: Topology,
    count: c_uint,
    objects: *mut *mut Object,
) -> Vec<*mut Object> {
    if objects.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller gives so many objects.
    let objects = unsafe { core::slice::from_raw_parts(objects, count as usize) };
    // SAFETY: the caller's objects and topology are valid.
    objects.iter().map(|object| unsafe { own_object(call, topology, *object) }).collect()
}

/// Stands for `hwloc_distances_add_values`.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn distances_add_values(
    topology: Topology,
    handle: *mut c_void,
    count: c_uint,
    objects: *mut *mut Object,
    values: *mut u64,
    flags: c_ulong,
    caller: *const c_void,
) -> c_int {
    type Real = unsafe extern "C" fn(
        Topology,
        *mut c_void,
        c_uint,
        *mut *mut Object,
        *mut u64,
        c_ulong,
    ) -> c_int;
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Real>(c"hwloc_distances_add_values") else { return -1 };
    // SAFETY: the caller's arguments are valid.
    let mut own = unsafe { own_objects(&call, topology, count, objects) };
    let objects = if objects.is_null() { objects } else { own.as_mut_ptr() };
    // SAFETY: it is hwloc's function, which copies the objects, and the other arguments are valid.
    unsafe { real(topology, handle, count, objects, values, flags) }
}

/// Stands for `hwloc_distances_add`, the function of hwloc 2.0 to 2.4.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn distances_add(
    topology: Topology,
    count: c_uint,
    objects: *mut *mut Object,
    values: *mut u64,
    kind: c_ulong,
    flags: c_ulong,
    caller: *const c_void,
) -> c_int {
    type Real = unsafe extern "C" fn(
        Topology,
        c_uint,
        *mut *mut Object,
        *mut u64,
        c_ulong,
        c_ulong,
    ) -> c_int;
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Real>(c"hwloc_distances_add") else { return -1 };
    if !call.make_private(topology) {
        return -1;
    }
    // SAFETY: the caller's arguments are valid.
    let mut own = unsafe { own_objects(&call, topology, count, objects) };
    let objects = if objects.is_null() { objects } else { own.as_mut_ptr() };
    // SAFETY: it is hwloc's function, which copies the objects, and the other arguments are valid.
    unsafe { real(topology, count, objects, values, kind, flags) }
}
