//! The function that adds an info to an object, which names no topology.

use crate::call::Call;
use crate::hwloc::Object;
use crate::state::state;
use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

type Real = unsafe extern "C" fn(*mut Object, *const c_char, *const c_char) -> c_int;

/// Places in hwloc that call the function, each with hwloc's function: while it loads a topology, hwloc
/// calls itself for each info of each object, and looking the function up would take longer than all
/// the rest.
struct Inner([(AtomicPtr<c_void>, AtomicPtr<c_void>); 16]);

static INNER: Inner =
    Inner([const { (AtomicPtr::new(ptr::null_mut()), AtomicPtr::new(ptr::null_mut())) }; 16]);

impl Inner {
    fn at(&self, caller: *const c_void) -> Option<&(AtomicPtr<c_void>, AtomicPtr<c_void>)> {
        self.0.get(caller.addr() % self.0.len())
    }

    /// hwloc's function for a call that returns to an address. Code of another library that calls
    /// this function and returns to the same address is that of the same library, loaded again.
    fn find(&self, caller: *const c_void) -> Option<Real> {
        let (place, function) = self.at(caller)?;
        let is_there = || ptr::eq(place.load(Ordering::Acquire), caller);
        let found = is_there().then(|| function.load(Ordering::Acquire))?;
        // SAFETY: `remember` has stored a function of this type, and for this caller, because the
        // place is the same before and behind.
        is_there().then(|| unsafe { core::mem::transmute::<*mut c_void, Real>(found) })
    }

    fn remember(&self, caller: *const c_void, real: Real) {
        if let Some((place, function)) = self.at(caller) {
            place.store(ptr::null_mut(), Ordering::Release);
            function.store(real as *mut c_void, Ordering::Release);
            place.store(caller.cast_mut(), Ordering::Release);
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
    if let Some(real) = INNER.find(caller) {
        // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
        return unsafe { real(object, name, value) };
    }
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Real>(c"hwloc_obj_add_info") else { return -1 };
    if call.is_inner() {
        INNER.remember(caller, real);
    } else {
        let state = &mut *state();
        // SAFETY: the caller's object is valid.
        if !unsafe { state.infos.give(&state.segments, object) } {
            return -1;
        }
    }
    // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
    unsafe { real(object, name, value) }
}
