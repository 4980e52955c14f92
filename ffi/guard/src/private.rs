//! A handle that somebody modifies becomes a topology of its own, without moving.

use crate::call::Call;
use crate::handle::{Handle, exchange};
use crate::hwloc::{Object, Topology};
use crate::say::say;
use crate::state::{State, state};

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
    let Some(handle) = state.handle(topology) else { return Some(()) };
    let has_kinds = call.hwloc.has_kinds(topology);
    let mut own = core::ptr::null_mut();
    // SAFETY: it is hwloc's function, and the handle is a topology of it.
    if unsafe { (call.hwloc.functions.dup)(&raw mut own, topology) } != 0 {
        return None;
    }
    if has_kinds {
        state.copies.push(topology);
    }
    replace(call, state, handle, own);
    Some(())
}

/// Puts a topology of the process's own in the place of a handle.
pub(crate) fn replace(call: &Call, state: &mut State, handle: Handle, own: Topology) {
    exchange(&call.hwloc, handle.topology, own);
    state.segments.pin(handle.segment);
    state.end_handle(&call.hwloc, handle, own);
    say!("{} modifies a topology: it gets its own", call.by.name());
}

/// The object of a topology that `object` was before the topology was made private, if the caller
/// had found it then. Else `object` itself.
///
/// # Safety
///
/// The arguments must be valid for hwloc's functions.
pub(crate) unsafe fn own_object(
    call: &Call,
    topology: Topology,
    object: *mut Object,
) -> *mut Object {
    if call.is_inner() {
        return object;
    }
    let state = state();
    let Some(segment) = state.segments.around(object.cast()) else { return object };
    if state.handle(topology).is_some_and(|handle| handle.segment == segment) {
        return object;
    }
    // SAFETY: the object is in a segment, which stays mapped.
    let wanted = unsafe { ((*object).object_type, (*object).gp_index) };
    // SAFETY: the topology is valid.
    let mut objects = unsafe { call.hwloc.functions.levels(topology) }.flatten();
    // SAFETY: hwloc has returned these objects.
    let found = objects.find(|it| unsafe { ((**it).object_type, (**it).gp_index) } == wanted);
    found.unwrap_or(object)
}
