//! What a process had loaded when it ended: a library may have an hwloc of its own inside, whose calls are not seen.

use crate::note::note_loaded;
use std::ffi::{CStr, c_int, c_void};

/// Run when the process ends by itself; one that is killed, or that calls `_exit`, tells nothing.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;

extern "C" fn at_end() {
    let mut files: Vec<String> = Vec::new();
    // SAFETY: the callback gets what is passed here, and is not called any more once this returns.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut files).cast()) };
    note_loaded(&files);
}

/// Adds the file of an object to the list that `data` is.
///
/// # Safety
///
/// Called by `dl_iterate_phdr` with the list of `at_end`.
unsafe extern "C" fn add(object: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader gives a valid object, and hands on the list of `at_end`, which nobody else has.
    let (object, files) = unsafe { (&*object, &mut *data.cast::<Vec<String>>()) };
    if !object.dlpi_name.is_null() {
        // SAFETY: a name that ends with a zero and lives as long as the object is loaded.
        let name = unsafe { CStr::from_ptr(object.dlpi_name) };
        files.push(name.to_string_lossy().into_owned());
    }
    0
}
