//! The rules that each column has: how it is packed, how many values it has, and how large they
//! are.

use super::rule::broken;
use crate::column::ArchivedColumn;
use crate::error::ValidationError;

/// The limit of a column that may have any value.
pub(crate) const ANY: u64 = u64::MAX;
pub(super) const IN_PROPORTION: &str = "has rows in proportion to the archive";

/// A rule of a column: the column, the number of rows of its table, and the limit that every value
/// is below.
type ColumnRule<'a> = (&'a ArchivedColumn, usize, u64);

/// Checks columns by their rules. `names` has the names of the columns, separated by blanks.
pub(crate) fn check_rules(
    rules: &[ColumnRule<'_>],
    names: &'static str,
    most_rows: usize,
) -> Result<(), ValidationError> {
    let holds = |(column, rows, limit): &ColumnRule<'_>| {
        column.is_sound()
            && column.len() == *rows
            && *rows <= most_rows
            && (*limit == ANY || column.is_below(*limit))
    };
    match rules.iter().position(|rule| !holds(rule)) {
        Some(place) => Err(what_fails(rules, names, place, most_rows)),
        None => Ok(()),
    }
}

#[cold]
#[inline(never)]
fn what_fails(
    rules: &[ColumnRule<'_>],
    names: &'static str,
    place: usize,
    most_rows: usize,
) -> ValidationError {
    let name = names.split(' ').nth(place).unwrap_or_default();
    let Some((column, rows, _)) = rules.get(place) else {
        return broken(name, 0, "is a column");
    };
    match column.len() {
        _ if !column.is_sound() => broken(name, 0, "packing is sound"),
        found if found != *rows => broken(name, found, "has a value for each row of its table"),
        found if found > most_rows => broken(name, found, IN_PROPORTION),
        _ => broken(name, 0, "values are in range"),
    }
}
