//! The version of the hwloc that this process runs with.

/// The API version of the hwloc in this process: 0x00020900 is 2.9.0.
#[must_use]
pub fn api_version() -> u32 {
    // SAFETY: the function takes no argument and only returns a number.
    unsafe { hwlocality_sys::hwloc_get_api_version() }
}
