//! What the user has set in the environment.

use core::ffi::{CStr, c_char};

/// Whether the guard does anything: unless `TOPOBROKER_GUARD=0`.
pub(crate) fn is_on() -> bool {
    value(c"TOPOBROKER_GUARD").is_none_or(|value| value != c"0")
}

/// Whether the guard says what it does: with `TOPOBROKER_GUARD_VERBOSE=1`.
pub(crate) fn is_verbose() -> bool {
    value(c"TOPOBROKER_GUARD_VERBOSE").is_some_and(|value| value != c"" && value != c"0")
}

/// The folder for notes of `topobroker audit`.
pub(crate) fn audit_folder() -> Option<&'static CStr> {
    value(c"TOPOBROKER_AUDIT").filter(|folder| *folder != c"")
}

fn value(name: &CStr) -> Option<&'static CStr> {
    // SAFETY:
    // - The name ends with a zero.
    // - What is returned is NULL, or ends with a zero and stays until the environment changes. As
    //   for every function of C, whoever changes it must know that no other thread reads it.
    unsafe { libc::getenv(name.as_ptr()).as_ref().map(|start| CStr::from_ptr(start)) }
}

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// All variables, as `NAME=VALUE`.
pub(crate) fn variables() -> impl Iterator<Item = &'static [u8]> {
    // SAFETY: reads a pointer that the C library keeps.
    let mut at = unsafe { environ };
    core::iter::from_fn(move || {
        if at.is_null() {
            return None;
        }
        // SAFETY: the array ends with NULL, and `at` has not gone past that. Each entry ends with a
        // zero and stays until the environment changes.
        let variable = unsafe { (*at).as_ref().map(|start| CStr::from_ptr(start)) }?;
        // SAFETY: an entry follows, because this one is not the NULL at the end.
        at = unsafe { at.add(1) };
        Some(variable.to_bytes())
    })
}
