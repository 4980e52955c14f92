//! A handle that somebody modifies becomes a topology of its own, without moving.

use crate::call::Call;
use crate::handle::exchange;
use crate::hwloc::{Object, Topology};
use crate::say::say;
use crate::state::{State, state};
use core::ffi::{c_int, c_uint};

impl Call {
    /// Gives a handle a tree of its own, because the caller is about to modify it. The topology
    /// stays where it is. Objects that the caller has seen before can still be read, as they were.
    /// False, with hwloc's `errno`, if there is no memory for it.
    pub(crate) fn make_private(&self, topology: Topology) -> bool {
        // Without looking at whether the guard is on: the handle may be from when it was.
        if self.is_inner() {
            return true;
        }
        let mut state = state();
        let own = make_private(self, &mut state, topology);
        own.is_some()
    }
}

fn make_private(call: &Call, state: &mut State, topology: Topology) -> Option<()> {
    type Dup = unsafe extern "C" fn(*mut Topology, Topology) -> c_int;
    let Some(handle) = state.handle(topology) else { return Some(()) };
    let dup: Dup = call.function(c"hwloc_topology_dup")?;
    let mut own = core::ptr::null_mut();
    // SAFETY: it is hwloc's function, and the handle is a topology of it.
    if unsafe { dup(&raw mut own, topology) } != 0 {
        return None;
    }
    exchange(&call.hwloc, topology, own)?;
    state.segments.pin(handle.segment);
    state.end_handle(&call.hwloc, handle, own);
    say!("{} modifies a topology: it gets its own", call.by.name());
    Some(())
}

/// The object of a topology that is at the place of `object`, if that is in a segment and the
/// topology is not: the topology was made private after the caller had found the object. Else
/// `object` itself.
///
/// # Safety
///
/// The arguments must be valid for hwloc's functions.
pub(crate) unsafe fn own_object(
    call: &Call,
    topology: Topology,
    object: *mut Object,
) -> *mut Object {
    type At = unsafe extern "C" fn(Topology, c_int, c_uint) -> *mut Object;
    let state = state();
    let segment = state.segments.around(object.cast());
    let Some(segment) = segment else { return object };
    let is_there = state.handle(topology).is_some_and(|handle| handle.segment == segment);
    let Some(at) = call.hwloc.function::<At>(c"hwloc_get_obj_by_depth").filter(|_| !is_there)
    else {
        return object;
    };
    // SAFETY: the object is in a segment, which stays mapped, and the topology is valid.
    unsafe { at(topology, (*object).depth, (*object).logical_index) }
}
