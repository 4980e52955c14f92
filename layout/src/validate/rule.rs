//! Makes the error that says which rule is broken and where.

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
