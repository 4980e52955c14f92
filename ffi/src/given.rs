//! Arguments and results that must be there.

use crate::failure::Failure;
use crate::status::tb_status;
use alloc::string::String;

/// Converts an argument that is required. NULL becomes TB_ERR_ARGUMENT.
pub(crate) trait Given<T> {
    fn given(self, name: &str) -> Result<T, Failure>;
}

impl<T> Given<T> for Option<T> {
    fn given(self, name: &str) -> Result<T, Failure> {
        self.ok_or_else(|| missing(name))
    }
}

#[cold]
fn missing(name: &str) -> Failure {
    Failure::argument(format_args!("{name} is NULL"))
}

/// Converts a result that may be missing. `None` becomes TB_ERR_NOT_FOUND.
pub(crate) trait Found<T> {
    fn found(self, what: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T> Found<T> for Option<T> {
    fn found(self, what: impl FnOnce() -> String) -> Result<T, Failure> {
        self.ok_or_else(|| Failure { status: tb_status::TB_ERR_NOT_FOUND, detail: what() })
    }
}
