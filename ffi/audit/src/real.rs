//! Finds hwloc's own functions, which the functions of this library replace.

use std::ffi::{CStr, CString, c_int, c_void};

/// Finds the function that the caller would have called without this library. Looks first behind
/// this library in the global scope of the process, then in the caller and the libraries that it
/// was loaded with, because a process may have several hwloc libraries, each for the library that
/// brought it. Looks last in an hwloc that was loaded privately.
pub(crate) fn real<F: Copy>(name: &CStr, caller: &str) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the name ends with a zero.
    let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    let caller = CString::new(caller).unwrap_or_default();
    let known = [c"libhwloc.so.15", c"libhwloc.so.16", c"libhwloc.so"];
    for library in [caller.as_c_str()].into_iter().chain(known) {
        if !found.is_null() {
            break;
        }
        found = in_library(library, name);
    }
    // SAFETY: `F` has the size of a pointer (asserted) and `found` is not NULL. The caller chooses
    // as `F` the type that hwloc's header gives the function of this name.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}

/// Finds a function in a loaded library, or in the libraries that it was loaded with; NULL if there
/// is none.
fn in_library(library: &CStr, name: &CStr) -> *mut c_void {
    const LOADED: c_int = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    if library.is_empty() {
        return std::ptr::null_mut();
    }
    // SAFETY: the name ends with a zero. With RTLD_NOLOAD nothing is loaded, so no code runs. The
    // handle is not closed, so the library stays loaded.
    let handle = unsafe { libc::dlopen(library.as_ptr(), LOADED) };
    if handle.is_null() {
        return handle;
    }
    // SAFETY: the handle is open and the name ends with a zero.
    unsafe { libc::dlsym(handle, name.as_ptr()) }
}
