//! The frame of every call into the library. Failures and panics become a status and a message.

use crate::failure::Failure;
use crate::pointers::Handles;
use crate::status::tb_status;
use std::cell::{Cell, RefCell};
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Room for the message of a failure and a zero. Longer messages, which have very long paths, are
/// cut.
const ROOM: usize = 1024;

thread_local! {
    /// The message of the last failure. The type has no destructor, because registering one
    /// allocates memory.
    static DETAIL: RefCell<[u8; ROOM]> = const { RefCell::new([0; ROOM]) };
    /// Whether this thread is adopting.
    static ADOPTS: Cell<bool> = const { Cell::new(false) };
}

/// Runs the body of a function. A failure or a panic becomes a status, and its message is kept.
pub(crate) fn call(work: impl FnOnce() -> Result<(), Failure>) -> tb_status {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return tb_status::TB_OK,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
            Failure::new(tb_status::TB_ERR_INTERNAL, said.unwrap_or("panic"))
        }
    };
    let end = (0..ROOM.min(failure.detail.len() + 1))
        .rev()
        .find(|end| failure.detail.is_char_boundary(*end))
        .unwrap_or(0);
    let bytes = failure.detail.bytes().take(end).filter(|byte| *byte != 0);
    DETAIL.with(|kept| {
        // A signal handler that interrupts this block finds the message borrowed. The handler's own
        // message is lost.
        let Ok(mut kept) = kept.try_borrow_mut() else { return };
        let rest = bytes.chain(std::iter::repeat(0));
        kept.iter_mut().zip(rest).for_each(|(kept, byte)| *kept = byte);
    });
    failure.status
}

/// Runs the body of a function that takes sets, as [`call`] does.
pub(crate) fn call_with(work: impl FnOnce(&mut Handles) -> Result<(), Failure>) -> tb_status {
    Handles::of_call(|handles| call(|| work(handles)))
}

/// Runs the body of a function that adopts, as [`call`] does. If a signal handler interrupts it and
/// adopts too, the handler's call is refused before it touches anything that the interrupted call
/// holds.
pub(crate) fn adopting(work: impl FnOnce() -> Result<(), Failure>) -> tb_status {
    if ADOPTS.replace(true) {
        return tb_status::TB_ERR_BUSY;
    }
    let status = call(work);
    ADOPTS.set(false);
    status
}

/// Runs the body of a function that returns a value and no status. If it panics, returns
/// `otherwise`.
pub(crate) fn value<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// Runs the body of a function that takes sets and returns a value and no status, as [`value`]
/// does.
pub(crate) fn value_with<T>(otherwise: T, work: impl FnOnce(&Handles) -> T) -> T {
    Handles::of_call(|handles| value(otherwise, || work(handles)))
}

/// Message of the last failed call of this thread: what failed, what was found and what was
/// expected. Empty if no call has failed. At most 1023 bytes; longer messages are cut. Valid until
/// the next failed call of the thread. TB_ERR_BUSY leaves the message as it was.
#[unsafe(no_mangle)]
pub extern "C" fn tb_error_detail() -> *const c_char {
    DETAIL.with(|kept| kept.try_borrow().map_or(c"".as_ptr(), |kept| kept.as_ptr().cast()))
}

/// Converts an argument that is required. NULL becomes TB_ERR_ARGUMENT.
pub(crate) trait Given<T> {
    fn given(self, name: &str) -> Result<T, Failure>;
}

impl<T> Given<T> for Option<T> {
    fn given(self, name: &str) -> Result<T, Failure> {
        self.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
    }
}

/// Converts a result that may be missing. `None` becomes TB_ERR_NOT_FOUND.
pub(crate) trait Found<T> {
    fn found(self, what: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T> Found<T> for Option<T> {
    fn found(self, what: impl FnOnce() -> String) -> Result<T, Failure> {
        self.ok_or_else(|| Failure::new(tb_status::TB_ERR_NOT_FOUND, what()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn a_message_that_is_too_long_is_cut_at_a_character() {
        let long = format!("{}é and more", "x".repeat(ROOM - 2));
        call(|| Err(Failure::argument(long)));
        let detail = DETAIL.with_borrow(|kept| *kept);
        let kept = CStr::from_bytes_until_nul(&detail).unwrap().to_str().unwrap();
        assert_eq!(kept, "x".repeat(ROOM - 2));
    }

    #[test]
    fn an_adoption_within_another_of_the_same_thread_is_refused() {
        let mut inner = tb_status::TB_OK;
        let outer = adopting(|| {
            inner = adopting(|| Ok(()));
            Ok(())
        });
        assert_eq!((outer, inner), (tb_status::TB_OK, tb_status::TB_ERR_BUSY));
        assert_eq!(adopting(|| Ok(())), tb_status::TB_OK);
    }

    #[test]
    fn a_panic_is_a_status_with_what_it_said() {
        let status = call(|| panic!("on purpose: {}", 7));
        assert_eq!(status, tb_status::TB_ERR_INTERNAL);
        let detail = DETAIL.with_borrow(|kept| *kept);
        assert_eq!(CStr::from_bytes_until_nul(&detail), Ok(c"on purpose: 7"));
    }
}
