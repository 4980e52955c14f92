//! The frame of every call into the library. A failure becomes a status and a message.
//!
//! In the full library a panic becomes a status too, because launchers live longer than one mistake
//! in a parser. The thin library has no code that could catch one: see `without_std.rs`.

use crate::failure::Failure;
use crate::per_thread;
use crate::pointers::Handles;
use crate::status::tb_status;
use core::ffi::c_char;

/// Runs the body of a function. A failure becomes a status, and its message is kept.
pub(crate) fn call(work: impl FnOnce() -> Result<(), Failure>) -> tb_status {
    match caught(work).and_then(|result| result) {
        Ok(()) => tb_status::TB_OK,
        Err(failure) => keep(failure),
    }
}

/// Keeps the message of a failure. Returns its status.
#[cold]
fn keep(failure: Failure) -> tb_status {
    per_thread::keep_message(&failure.detail);
    failure.status
}

/// Runs work. A panic becomes a failure.
#[cfg(feature = "broker")]
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Failure::new(tb_status::TB_ERR_INTERNAL, format_args!("{}", said.unwrap_or("panic")))
    })
}

/// Runs work.
#[cfg(not(feature = "broker"))]
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    Ok(work())
}

/// Runs the body of a function that takes sets, as [`call`] does.
pub(crate) fn call_with(work: impl FnOnce(&mut Handles) -> Result<(), Failure>) -> tb_status {
    Handles::of_call(|handles| call(|| work(handles)))
}

/// Runs the body of a function that adopts, as [`call`] does. If a signal handler interrupts it and
/// adopts too, the handler's call is refused before it touches anything that the interrupted call
/// holds.
pub(crate) fn adopting(work: impl FnOnce() -> Result<(), Failure>) -> tb_status {
    if per_thread::set_adopts(true) {
        return tb_status::TB_ERR_BUSY;
    }
    let status = call(work);
    per_thread::set_adopts(false);
    status
}

/// Runs the body of a function that returns a value and no status. After a panic in the full
/// library, returns `otherwise`.
pub(crate) fn value<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    caught(work).unwrap_or(otherwise)
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
    per_thread::message()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[cfg(feature = "broker")]
    #[test]
    fn a_panic_is_a_status_with_what_it_said() {
        let status = call(|| panic!("on purpose: {}", 7));
        assert_eq!(status, tb_status::TB_ERR_INTERNAL);
        assert_eq!(per_thread::kept(), "on purpose: 7");
    }
}
