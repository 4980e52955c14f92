//! Checks the rules of an archive. An archive that passes can be read without further checks.
//!
//! The levels are checked first, then every column by itself (packing, length, largest value), then
//! each table that has more rules, then the tree level by level.

mod allowed;
mod column_rules;
mod columns;
mod levels;
mod rule;
#[cfg(test)]
mod rules;
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod texts;
mod tree;

pub(crate) use column_rules::{ANY, check_rules};
pub(crate) use columns::starts;
pub(crate) use rule::{ROWS_A_BYTE, ensure};

use crate::archive::ArchivedTopology;
use crate::error::ValidationError;

/// Checks all rules of an archive, in their order.
pub(crate) fn topology(
    topology: &ArchivedTopology,
    archive_len: usize,
) -> Result<(), ValidationError> {
    let counts = levels::check(topology)?;
    let most_rows = archive_len.saturating_mul(ROWS_A_BYTE);
    columns::check(topology, &counts, most_rows)?;
    tables::check(topology, &counts, most_rows)?;
    texts::check(topology, archive_len)?;
    tree::check(topology, &counts)
}
