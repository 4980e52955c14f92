//! Which library called.

use std::ffi::{CStr, c_int, c_void};

/// The library that called into this one: of the frames above, the first of another object.
pub(crate) fn library() -> String {
    const MOST: c_int = 16;
    let mut frames = [std::ptr::null_mut(); 16];
    // SAFETY: room for as many frames as it says.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), MOST) };
    let own = object_of(library as *mut c_void);
    let frames = frames.iter().take(usize::try_from(count).unwrap_or(0));
    let mut objects = frames.filter_map(|frame| object_of(*frame));
    objects.find(|object| Some(object) != own.as_ref()).unwrap_or_else(|| "?".to_owned())
}

/// File of the object that an address is in.
fn object_of(address: *mut c_void) -> Option<String> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: any address may be asked for; the output is ours.
    let found = unsafe { libc::dladdr(address, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a name that ends with a zero and lives as long as the object is loaded: it is calling.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned())
}
