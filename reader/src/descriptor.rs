//! Descriptors that this process inherited.

use rustix::fd::BorrowedFd;

/// A descriptor that the process that started this one left open.
pub(crate) fn inherited(number: i32) -> BorrowedFd<'static> {
    // SAFETY:
    // - Any number but -1 is a valid argument; keys refuse negative ones.
    // - It is used for calls that fail on a number that is not open, never for reading data of
    //   the program, and never closed here.
    unsafe { BorrowedFd::borrow_raw(number) }
}
