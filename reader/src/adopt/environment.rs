//! Reads the environment of this process, but never in a set-uid program.

use std::ffi::OsString;

/// The value of a variable. `None` in a program that runs with more rights than the user who
/// started it, because that user could name any file there.
pub(crate) fn var_os(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|_| !has_more_rights())
}

/// The value of a variable as text, for crates that must read the environment as this one does.
/// `None` if it is not UTF-8, or in a program that runs with more rights than the user who started
/// it.
///
/// ```
/// let address = topobroker_reader::internal::trusted_var("PMIX_HWLOC_SHMEM_ADDR");
/// assert_eq!(address, std::env::var("PMIX_HWLOC_SHMEM_ADDR").ok());
/// ```
#[must_use]
pub fn trusted_var(name: &str) -> Option<String> {
    var_os(name)?.into_string().ok()
}

/// Whether the kernel started this program with more rights: set-uid, set-gid or capabilities.
fn has_more_rights() -> bool {
    // SAFETY: `getauxval` takes a number and returns one. If the kernel does not pass `AT_SECURE`,
    // it returns 0.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
