//! Finds the library that called.

use std::ffi::{CStr, c_int, c_void};

/// The library or program that called into this library: the innermost stack frame in another
/// object decides.
pub(crate) fn library() -> String {
    const MOST: c_int = 16;
    let mut frames = [std::ptr::null_mut(); 16];
    // SAFETY: `frames` has room for `MOST` frames.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), MOST) };
    let own = object_of(library as *mut c_void);
    let frames = frames.iter().take(usize::try_from(count).unwrap_or(0));
    let mut objects = frames.filter_map(|frame| object_of(*frame));
    objects.find(|object| Some(object) != own.as_ref()).unwrap_or_else(|| "?".to_owned())
}

/// The file of the loaded object that contains an address.
fn object_of(address: *mut c_void) -> Option<String> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the call accepts any address, and `info` is a valid output.
    let found = unsafe { libc::dladdr(address, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the name ends with a zero and lives as long as the object is loaded. The object stays
    // loaded because its code is on the stack.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned())
}
