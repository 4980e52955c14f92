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

/// Version of the rules of topologies and clusters. Whoever adds, changes or removes a rule raises
/// it: then every reader checks again what was certified by the rules before.
pub const RULES: u32 = 1;

/// How far an archive was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// By all rules.
    Whole,
    /// What the work and the memory of queries depend on. [`tree_is_sound`](crate::tree_is_sound)
    /// says whether the tree can be walked.
    Needed,
}

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

/// Checks what no query can do without, whoever says that the archive is sound: what its work and
/// its memory depend on. Returns how far it was checked: sums of numbers of 4 bytes could overflow,
/// so trees of these are checked by all rules.
pub(crate) fn needed(
    topology: &ArchivedTopology,
    archive_len: usize,
) -> Result<Checked, ValidationError> {
    if topology.tree.width.to_native() > 2 {
        return self::topology(topology, archive_len).map(|()| Checked::Whole);
    }
    let counts = levels::check(topology)?;
    let most_rows = archive_len.saturating_mul(ROWS_A_BYTE);
    columns::needed(topology, &counts, most_rows)?;
    tables::needed(topology, &counts, most_rows)?;
    texts::check(topology, archive_len)?;
    tree::needed(topology, &counts)?;
    Ok(Checked::Needed)
}

/// Checks the rules of the tree, after [`needed`].
pub(crate) fn tree(topology: &ArchivedTopology) -> Result<(), ValidationError> {
    tree::check(topology, &levels::check(topology)?)
}
