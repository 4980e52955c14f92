//! hwloc's own functions, behind those of this library.

use std::ffi::{CStr, c_void};

/// The function of a name in the library after this one, or in the hwloc that somebody has loaded for
/// itself.
pub(crate) fn real<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the name ends with a zero.
    let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    for library in [c"libhwloc.so.15", c"libhwloc.so.16", c"libhwloc.so"] {
        if !found.is_null() {
            break;
        }
        // SAFETY: NOLOAD: nothing is loaded. The handle is not closed: the library is in use.
        let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if !handle.is_null() {
            // SAFETY: the handle is open and the name ends with a zero.
            found = unsafe { libc::dlsym(handle, name.as_ptr()) };
        }
    }
    // SAFETY: a function pointer has the size of a pointer (asserted), and is not NULL; the caller says
    // the type that hwloc's header gives the function of that name.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}
