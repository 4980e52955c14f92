//! hwloc's own functions, behind those of this library.

use std::ffi::{CStr, CString, c_int, c_void};

/// The function of a name that the caller would have found without this library: in what all of the process may use,
/// behind this library; else in what the caller itself was loaded with, since a process may have several hwloc, each
/// for the library that brought it; else in the hwloc that somebody has loaded for itself.
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
    // SAFETY: a function pointer has the size of a pointer (asserted), and is not NULL; the caller says
    // the type that hwloc's header gives the function of that name.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}

/// The function in a library that is loaded, or in those that it was loaded with; NULL if there is none.
fn in_library(library: &CStr, name: &CStr) -> *mut c_void {
    const LOADED: c_int = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    if library.is_empty() {
        return std::ptr::null_mut();
    }
    // SAFETY: NOLOAD: nothing is loaded. The handle is not closed: the library is in use.
    let handle = unsafe { libc::dlopen(library.as_ptr(), LOADED) };
    if handle.is_null() {
        return handle;
    }
    // SAFETY: the handle is open and the name ends with a zero.
    unsafe { libc::dlsym(handle, name.as_ptr()) }
}
