//! Inherited descriptors.

use rustix::fd::{BorrowedFd, OwnedFd};

/// Duplicates the descriptor with a number. Whatever the number refers to later, the file that was
/// checked is the one that is mapped.
pub(crate) fn duplicate(number: i32) -> rustix::io::Result<OwnedFd> {
    // SAFETY:
    // - Any number but -1 is a valid argument, and keys refuse negative numbers.
    // - The descriptor is only duplicated, which fails if the number is not open.
    let inherited = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_dupfd_cloexec(inherited, 3)
}
