//! The programs and libraries that are loaded.

use alloc::vec::Vec;
use core::ffi::{CStr, c_int, c_void};

/// Files of libraries whose names have `hwloc` in them. Wheels rename the libraries that they
/// bring.
pub(crate) fn named_hwloc() -> Vec<&'static CStr> {
    let mut files = Vec::new();
    each(|file| {
        let name = file.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if name.windows(5).any(|part| part == b"hwloc") {
            files.push(file);
        }
    });
    files
}

/// The files of all programs and libraries, in the order in which they were loaded.
pub(crate) fn files() -> Vec<&'static CStr> {
    let mut files = Vec::new();
    each(|file| files.push(file));
    files
}

/// Calls a function with the file of each program and library that is loaded. The dynamic loader
/// has a lock for this that a forked child may find taken, so it is not for what every call needs.
fn each(mut visit: impl FnMut(&'static CStr)) {
    let mut visit: &mut dyn FnMut(&'static CStr) = &mut visit;
    // SAFETY: `next` gets the function that it expects, and is not called after this call.
    unsafe { libc::dl_iterate_phdr(Some(next), (&raw mut visit).cast()) };
}

/// Passes a loaded object on to the function that `data` points to.
///
/// # Safety
///
/// `dl_iterate_phdr` must call it, with a pointer to the function of `each`.
unsafe extern "C" fn next(object: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader gives a valid object, and passes on the function of `each`, which no other
    // otherwise uses during the call.
    let (object, visit) = unsafe { (&*object, &mut *data.cast::<&mut dyn FnMut(&'static CStr)>()) };
    let mut file = c"";
    if !object.dlpi_name.is_null() {
        // SAFETY: the name ends with a zero and lives as long as the object is loaded, which is
        // longer than this call.
        file = unsafe { CStr::from_ptr(object.dlpi_name) };
    }
    visit(file);
    0
}
