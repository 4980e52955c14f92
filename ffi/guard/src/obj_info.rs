//! The function that adds an info to an object, which names no topology.

use crate::call::Call;
use crate::hwloc::Object;
use crate::state::state;
use core::ffi::{c_char, c_int, c_void};

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
    type Real = unsafe extern "C" fn(*mut Object, *const c_char, *const c_char) -> c_int;
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Real>(c"hwloc_obj_add_info") else { return -1 };
    if !call.is_inner() {
        let state = &mut *state();
        // SAFETY: the caller's object is valid.
        if !unsafe { state.infos.give(&state.segments, object) } {
            return -1;
        }
    }
    // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
    unsafe { real(object, name, value) }
}
