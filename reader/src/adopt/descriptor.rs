//! Descriptors that this process inherited.

use rustix::fd::{BorrowedFd, OwnedFd};

/// A descriptor of our own of what is open at a number: whatever becomes of the number, what is
/// checked is what is mapped.
pub(crate) fn duplicate(number: i32) -> rustix::io::Result<OwnedFd> {
    // SAFETY:
    // - Any number but -1 is a valid argument; keys refuse negative ones.
    // - It is only duplicated, which fails on a number that is not open.
    let inherited = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_dupfd_cloexec(inherited, 3)
}
