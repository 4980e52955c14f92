//! The function that adds an info to an object, which names no topology.

use crate::call::Call;
use crate::hwloc::Object;
use crate::state::state;
use alloc::boxed::Box;
use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

type Real = unsafe extern "C" fn(*mut Object, *const c_char, *const c_char) -> c_int;

/// A place in hwloc that calls the function, and hwloc's function.
struct Inner {
    caller: *const c_void,
    real: Real,
}

/// While it loads a topology, hwloc calls itself for each info of each object, and looking the
/// function up would take longer than all the rest. So each place is remembered, in one step: a
/// place and its function are never seen apart. Nothing is replaced or freed, because another
/// thread may be reading it.
struct Known([AtomicPtr<Inner>; 64]);

static KNOWN: Known = Known([const { AtomicPtr::new(ptr::null_mut()) }; 64]);

impl Known {
    fn at(&self, caller: *const c_void) -> Option<&AtomicPtr<Inner>> {
        self.0.get(caller.addr() % self.0.len())
    }

    /// hwloc's function for a call that returns to an address. Code of another library that calls
    /// this function and returns to the same address is that of the same library, loaded again.
    fn find(&self, caller: *const c_void) -> Option<Real> {
        let known = self.at(caller)?.load(Ordering::Acquire);
        // SAFETY: it is NULL, or `remember` has stored it and it is not freed.
        let known = unsafe { known.as_ref() }?;
        ptr::eq(known.caller, caller).then_some(known.real)
    }

    /// Remembers a place, unless another one is there.
    fn remember(&self, caller: *const c_void, real: Real) {
        let Some(place) = self.at(caller) else { return };
        if !place.load(Ordering::Relaxed).is_null() {
            return;
        }
        let new = Box::into_raw(Box::new(Inner { caller, real }));
        let order = (Ordering::Release, Ordering::Relaxed);
        if place.compare_exchange(ptr::null_mut(), new, order.0, order.1).is_err() {
            // SAFETY: no other code knows of it.
            drop(unsafe { Box::from_raw(new) });
        }
    }
}

/// Stands for `hwloc_obj_add_info`.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn add_info(
    object: *mut Object,
    name: *const c_char,
    value: *const c_char,
    caller: *const c_void,
) -> c_int {
    if let Some(real) = KNOWN.find(caller) {
        // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
        return unsafe { real(object, name, value) };
    }
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Real>(c"hwloc_obj_add_info") else { return -1 };
    if call.is_inner() {
        KNOWN.remember(caller, real);
    } else {
        let state = &mut *state();
        // SAFETY: the caller's object is valid.
        if !unsafe { state.texts.own_infos(&state.segments, object) } {
            return -1;
        }
    }
    // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
    unsafe { real(object, name, value) }
}
