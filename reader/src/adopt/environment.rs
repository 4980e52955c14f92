//! The environment of this process, which a set-uid program does not believe.

use std::ffi::OsString;

/// The value of a variable. Nothing in a program that runs with more rights than whoever started it: a
/// name there would be one of theirs.
pub(crate) fn var_os(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|_| !has_more_rights())
}

/// The value of a variable as text, for those who look at the environment as this crate does: nothing in a
/// program that runs with more rights than whoever started it.
///
/// ```
/// let address = topobroker_reader::trusted_var("PMIX_HWLOC_SHMEM_ADDR");
/// assert_eq!(address, std::env::var("PMIX_HWLOC_SHMEM_ADDR").ok());
/// ```
#[must_use]
pub fn trusted_var(name: &str) -> Option<String> {
    var_os(name)?.into_string().ok()
}

/// Whether the kernel started this program with more rights: set-uid, set-gid or capabilities.
fn has_more_rights() -> bool {
    // SAFETY: takes a number and only returns one; 0 of what the kernel does not tell.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
