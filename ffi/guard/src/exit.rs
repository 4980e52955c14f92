//! Notes which files a process had loaded when it ended, because a library may contain a copy of
//! hwloc, whose calls are not seen.

use crate::note::note_loaded;
use crate::settings::audit_folder;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int, c_void};

/// Entry that makes the dynamic loader call `at_end` when the process exits. A process that is
/// killed or calls `_exit` notes nothing.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;

extern "C" fn at_end() {
    if audit_folder().is_none() {
        return;
    }
    let mut files: Vec<Cow<'static, str>> = Vec::new();
    // SAFETY: `add` gets the list that it expects, and is not called after this call has returned.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut files).cast()) };
    note_loaded(&files);
}

/// Adds the file of a loaded object to the list that `data` points to.
///
/// # Safety
///
/// `dl_iterate_phdr` must call it, with a pointer to the list of `at_end`.
unsafe extern "C" fn add(object: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader gives a valid object, and passes on the list of `at_end`, which nobody
    // else uses during the call.
    let (object, files) = unsafe { (&*object, &mut *data.cast::<Vec<Cow<'static, str>>>()) };
    if !object.dlpi_name.is_null() {
        // SAFETY: the name ends with a zero and lives as long as the object is loaded, which is
        // longer than this call.
        let name: &'static CStr = unsafe { CStr::from_ptr(object.dlpi_name) };
        files.push(name.to_string_lossy());
    }
    0
}
