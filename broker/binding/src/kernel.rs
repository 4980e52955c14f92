//! Calls of the kernel, with sets as arrays of words. rustix has the calls for CPUs with room for
//! 1024 of them, and none for memory. The kernel's words have 64 bits, or 32 bits in the same
//! order.

use libc::{c_long, c_uint};
use std::io;
use std::ptr::null;

/// Words of a set: more PUs and NUMA nodes than Linux supports. It refuses to fill more than a
/// page.
const MOST_WORDS: usize = 4096 / size_of::<u64>();

/// Binds a thread to CPUs.
pub(super) fn set_affinity(thread: u32, words: &[u64]) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as the slice has.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, thread, size_of_val(words), words.as_ptr())
    };
    checked(result).map(drop)
}

/// CPUs that a thread may run on.
pub(super) fn affinity(thread: u32) -> io::Result<Vec<u64>> {
    let mut words: Vec<u64> = vec![0; MOST_WORDS];
    // SAFETY: the kernel writes at most as many bytes as the vector has.
    let result = unsafe {
        let (size, words) = (size_of_val(words.as_slice()), words.as_mut_ptr());
        libc::syscall(libc::SYS_sched_getaffinity, thread, size, words)
    };
    // The number of bytes that it wrote.
    let bytes = usize::try_from(checked(result)?).unwrap_or(0);
    words.truncate(bytes / size_of::<u64>());
    Ok(words)
}

/// Sets the memory policy of the thread that asks. `nodes` may be empty.
pub(super) fn set_memory_policy(mode: c_long, nodes: &[u64]) -> io::Result<()> {
    let mask = if nodes.is_empty() { null() } else { nodes.as_ptr() };
    // The kernel takes one bit less than it is given.
    let bits = if nodes.is_empty() { 0 } else { size_of_val(nodes) * 8 + 1 };
    // SAFETY: the kernel reads `bits` - 1 bits, which the slice has.
    checked(unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask, bits) }).map(drop)
}

/// The memory policy of the thread that asks, and its NUMA nodes.
pub(super) fn memory_policy() -> io::Result<(c_long, Vec<u64>)> {
    let (mut mode, mut nodes): (c_uint, Vec<u64>) = (0, vec![0; MOST_WORDS]);
    let bits = size_of_val(nodes.as_slice()) * 8;
    // SAFETY: the kernel writes one number to `mode`, and at most `bits` bits to `nodes`.
    let result = unsafe {
        libc::syscall(libc::SYS_get_mempolicy, &raw mut mode, nodes.as_mut_ptr(), bits, 0, 0)
    };
    checked(result)?;
    Ok((mode.into(), nodes))
}

fn checked(result: c_long) -> io::Result<c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
