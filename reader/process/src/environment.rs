//! Reads the environment of this process, but never in a set-uid program.

use alloc::string::String;
use alloc::vec::Vec;

/// The value of a variable, any bytes. `None` in a program that runs with more rights than the user
/// who started it, because that user could name any file there.
#[must_use]
pub fn variable(name: &str) -> Option<Vec<u8>> {
    value(name).filter(|_| !has_more_rights())
}

/// In a Rust program, the standard library holds back threads that set a variable meanwhile.
#[cfg(feature = "std")]
fn value(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(std::os::unix::ffi::OsStringExt::into_vec)
}

#[cfg(not(feature = "std"))]
fn value(name: &str) -> Option<Vec<u8>> {
    let name = alloc::ffi::CString::new(name).ok()?;
    // SAFETY:
    // - The name ends with a zero.
    // - What is returned is NULL, or ends with a zero and stays until the environment changes. As
    //   for every function of C, whoever changes it must know that no other thread reads it.
    let value = unsafe {
        libc::getenv(name.as_ptr()).as_ref().map(|start| core::ffi::CStr::from_ptr(start))
    };
    value.map(|value| value.to_bytes().to_vec())
}

/// The value of a variable as text. `None` if it is not UTF-8, or in a program that runs with more
/// rights than the user who started it.
///
/// ```
/// let address = topobroker_process::trusted_var("PMIX_HWLOC_SHMEM_ADDR");
/// assert_eq!(address, std::env::var("PMIX_HWLOC_SHMEM_ADDR").ok());
/// ```
#[must_use]
pub fn trusted_var(name: &str) -> Option<String> {
    String::from_utf8(variable(name)?).ok()
}

/// Whether this process is of one user alone. It is not if it can become another one again: a
/// program of root that acts as a user for a while.
#[must_use]
pub fn is_of_one_user() -> bool {
    let [mut real, mut effective, mut saved] = [0; 3];
    // SAFETY: it writes three user ids to where these pointers lead.
    let status = unsafe { libc::getresuid(&mut real, &mut effective, &mut saved) };
    status == 0 && real == effective && saved == effective
}

/// Whether the kernel started this program with more rights: set-uid, set-gid or capabilities.
#[must_use]
pub fn has_more_rights() -> bool {
    auxiliary(libc::AT_SECURE) != 0
}

/// A value that the kernel passed to this program; 0 if it did not pass that one.
#[must_use]
pub fn auxiliary(kind: libc::c_ulong) -> u64 {
    // SAFETY: `getauxval` takes any number and returns one.
    unsafe { libc::getauxval(kind) as u64 }
}
