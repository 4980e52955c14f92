//! How rules are checked: the error that says which one is broken and where, and the limit of the
//! work.

use crate::error::ValidationError;

#[cold]
#[inline(never)]
pub(super) fn broken(column: &'static str, row: usize, rule: &'static str) -> ValidationError {
    ValidationError { column, row, rule }
}

pub(super) fn fail<T>(
    column: &'static str,
    row: usize,
    rule: &'static str,
) -> Result<T, ValidationError> {
    Err(broken(column, row, rule))
}

#[inline]
pub(crate) fn ensure(
    holds: bool,
    column: &'static str,
    row: usize,
    rule: &'static str,
) -> Result<(), ValidationError> {
    if holds { Ok(()) } else { Err(broken(column, row, rule)) }
}

/// Maximum number of rows of a table, and of bytes of text that rows refer to, for each byte of the
/// archive. A column of equal values takes no bytes and strings are stored once, so without this
/// limit a small archive could keep a process busy.
pub(crate) const ROWS_A_BYTE: usize = 64;
