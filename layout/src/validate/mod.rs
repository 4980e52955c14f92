//! Checks the rules of an archive. An archive that passes can be read without further checks.
//!
//! The levels are checked first, then every column by itself (packing, length, largest value), then
//! each table that has more rules, then the tree level by level.

mod allowed;
mod column_rules;
mod columns;
mod levels;
mod proportion;
mod rule;
#[cfg(test)]
mod rules;
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod texts;
mod topology;
mod tree;

pub(crate) use column_rules::{ANY, check_rules};
pub(crate) use columns::starts;
pub(crate) use proportion::ROWS_A_BYTE;
pub(crate) use rule::ensure;
pub(crate) use topology::topology;
