//! The hwloc of this process.

/// The version of hwloc's interface in this process: 0x00020900 is 2.9.0.
#[must_use]
pub fn api_version() -> u32 {
    // SAFETY: takes nothing and only returns a number.
    unsafe { hwlocality_sys::hwloc_get_api_version() }
}
