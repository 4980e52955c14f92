//! The way into the library and out of it: failures become a status and a message, panics too.

use crate::pointers::Handles;
use crate::status::tb_status;
use std::cell::{Cell, RefCell};
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use topobroker_reader::layout::OpenError;
use topobroker_reader::{
    AdoptError, AdoptJobError, EffectiveViewError, KeysError, ParseSetError, RestrictError,
    SourceError,
};

/// Why a call fails.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: tb_status,
    detail: String,
}

impl Failure {
    pub(crate) fn new(status: tb_status, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into() }
    }

    /// An error with its causes.
    pub(crate) fn of(status: tb_status, error: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(error.source(), |cause| cause.source());
        let detail = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
        Self { status, detail }
    }

    pub(crate) fn argument(detail: impl Into<String>) -> Self {
        Self::new(tb_status::TB_ERR_ARGUMENT, detail)
    }
}

/// Room for the message of a failure and a zero. Longer ones, of very long paths, are cut.
const ROOM: usize = 1024;

thread_local! {
    /// Without a destructor, which would take memory to register.
    static DETAIL: RefCell<[u8; ROOM]> = const { RefCell::new([0; ROOM]) };
    /// Whether this thread adopts.
    static ADOPTS: Cell<bool> = const { Cell::new(false) };
}

/// Does the work of a function.
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
        // Of a signal handler that interrupts this very line the message is lost.
        let Ok(mut kept) = kept.try_borrow_mut() else { return };
        let rest = bytes.chain(std::iter::repeat(0));
        kept.iter_mut().zip(rest).for_each(|(kept, byte)| *kept = byte);
    });
    failure.status
}

/// Does the work of a function that takes sets.
pub(crate) fn call_with(work: impl FnOnce(&mut Handles) -> Result<(), Failure>) -> tb_status {
    Handles::of_call(|handles| call(|| work(handles)))
}

/// Does the work of a function that adopts. A signal handler that interrupts it, and calls one itself, is refused before
/// anything is touched that the interrupted call holds.
pub(crate) fn adopting(work: impl FnOnce() -> Result<(), Failure>) -> tb_status {
    if ADOPTS.replace(true) {
        return tb_status::TB_ERR_BUSY;
    }
    let status = call(work);
    ADOPTS.set(false);
    status
}

/// Does the work of a function that returns a value and no status.
pub(crate) fn value<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// Does the work of a function that takes sets, and returns a value and no status.
pub(crate) fn value_with<T>(otherwise: T, work: impl FnOnce(&Handles) -> T) -> T {
    Handles::of_call(|handles| value(otherwise, || work(handles)))
}

/// What the last failed call of this thread has to say: the thing, what was found and what was
/// expected. Empty if none failed. Valid until the next failed call of the thread.
#[unsafe(no_mangle)]
pub extern "C" fn tb_error_detail() -> *const c_char {
    DETAIL.with(|kept| kept.try_borrow().map_or(c"".as_ptr(), |kept| kept.as_ptr().cast()))
}

/// An argument that must be there.
pub(crate) trait Given<T> {
    fn given(self, name: &str) -> Result<T, Failure>;
}

impl<T> Given<T> for Option<T> {
    fn given(self, name: &str) -> Result<T, Failure> {
        self.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
    }
}

/// What may not be there.
pub(crate) trait Found<T> {
    fn found(self, what: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T> Found<T> for Option<T> {
    fn found(self, what: impl FnOnce() -> String) -> Result<T, Failure> {
        self.ok_or_else(|| Failure::new(tb_status::TB_ERR_NOT_FOUND, what()))
    }
}

impl From<KeysError> for Failure {
    fn from(error: KeysError) -> Self {
        Self::of(tb_status::TB_ERR_KEYS, &error)
    }
}

impl From<ParseSetError> for Failure {
    fn from(error: ParseSetError) -> Self {
        Self::of(tb_status::TB_ERR_TEXT, &error)
    }
}

impl From<RestrictError> for Failure {
    fn from(error: RestrictError) -> Self {
        Self::of(tb_status::TB_ERR_RESTRICT, &error)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::of(tb_status::TB_ERR_SOURCE, &error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::of(tb_status::TB_ERR_SEGMENT, &error)
    }
}

impl From<AdoptError> for Failure {
    fn from(error: AdoptError) -> Self {
        let status = match &error {
            AdoptError::Keys(_) => tb_status::TB_ERR_KEYS,
            AdoptError::Open { .. } => tb_status::TB_ERR_OPEN,
            AdoptError::Symlink { .. }
            | AdoptError::NotRegular { .. }
            | AdoptError::Owner { .. }
            | AdoptError::Unmapped { .. }
            | AdoptError::Writable { .. }
            | AdoptError::Unsealed { .. } => tb_status::TB_ERR_TRUST,
            AdoptError::Map { .. } => tb_status::TB_ERR_MAP,
            AdoptError::Different { .. } => tb_status::TB_ERR_DIFFERENT,
            // Size, Address, Segment, and what is found out later.
            _ => tb_status::TB_ERR_SEGMENT,
        };
        Self::of(status, &error)
    }
}

impl From<AdoptJobError> for Failure {
    fn from(error: AdoptJobError) -> Self {
        match error {
            AdoptJobError::Adopt(error) => error.into(),
            error => Self::of(tb_status::TB_ERR_JOB, &error),
        }
    }
}

impl From<EffectiveViewError> for Failure {
    fn from(error: EffectiveViewError) -> Self {
        match error {
            EffectiveViewError::Adopt(error) => error.into(),
            EffectiveViewError::Job(error) => error.into(),
            EffectiveViewError::Source(error) => error.into(),
            EffectiveViewError::Restrict(error) => error.into(),
            error => Self::of(tb_status::TB_ERR_INTERNAL, &error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;
    use topobroker_reader::FileKey;

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

    #[test]
    fn every_failure_of_the_reader_has_a_status_and_keeps_its_message() {
        let file = || FileKey::Path("/f".into());
        let io = || std::io::Error::other("x");
        let cases: Vec<(Failure, tb_status)> = vec![
            (KeysError::Missing { key: "K" }.into(), tb_status::TB_ERR_KEYS),
            (AdoptError::Keys(KeysError::Missing { key: "K" }).into(), tb_status::TB_ERR_KEYS),
            (AdoptError::Open { file: file(), source: io() }.into(), tb_status::TB_ERR_OPEN),
            (AdoptError::Symlink { file: file() }.into(), tb_status::TB_ERR_TRUST),
            (
                AdoptError::NotRegular { file: file(), found: "FIFO" }.into(),
                tb_status::TB_ERR_TRUST,
            ),
            (
                AdoptError::Owner { file: file(), found: 1, expected: 2 }.into(),
                tb_status::TB_ERR_TRUST,
            ),
            (AdoptError::Unmapped { file: file() }.into(), tb_status::TB_ERR_TRUST),
            (AdoptError::Writable { file: file(), found: 0o666 }.into(), tb_status::TB_ERR_TRUST),
            (AdoptError::Unsealed { file: file() }.into(), tb_status::TB_ERR_TRUST),
            (
                AdoptError::Size { file: file(), found: 1, expected: 2 }.into(),
                tb_status::TB_ERR_SEGMENT,
            ),
            (
                AdoptError::Address { file: file(), found: 1, expected: 2 }.into(),
                tb_status::TB_ERR_SEGMENT,
            ),
            (AdoptError::Map { file: file(), source: io() }.into(), tb_status::TB_ERR_MAP),
        ];
        for (failure, status) in cases {
            assert_eq!(failure.status, status, "{}", failure.detail);
            assert!(
                failure.detail.contains("/f") || failure.detail.contains('K'),
                "{}",
                failure.detail
            );
        }
    }
}
