//! Checks that the text that rows refer to is in proportion to the archive. Each string is stored
//! once, however many rows refer to it, but a copy of a topology has a string for every row.

use super::rule::ROWS_A_BYTE;
use super::rule::ensure;
use crate::archive::ArchivedTopology;
use crate::column::ArchivedColumn;
use crate::error::ValidationError;

/// Number of bytes that a row takes in a copy of a topology, besides its text.
const ROW: usize = 16;

pub(super) fn check(
    topology: &ArchivedTopology,
    archive_len: usize,
) -> Result<(), ValidationError> {
    let most = archive_len.saturating_mul(ROWS_A_BYTE);
    let rows = columns(topology).map(|(column, _)| column.len()).fold(0, usize::saturating_add);
    // Nearly always all strings are too short to exceed the limit.
    let share = most.checked_div(rows).map_or(usize::MAX, |share| share.saturating_sub(ROW));
    // Fast path: with those of columns, validation is up to 6.6 times as fast.
    if has_none_longer(&topology.strings.bytes, share) {
        return Ok(());
    }
    let found = columns(topology).map(|(column, plus)| bytes_of(topology, column, plus));
    let found = found.fold(0, usize::saturating_add);
    ensure(found <= most, "strings.bytes", found, "is referred to in proportion to the archive")
}

/// Columns that refer to strings, each with a summand: its values are rows of strings plus this
/// summand.
fn columns(topology: &ArchivedTopology) -> impl Iterator<Item = (&ArchivedColumn, u64)> {
    let own = [
        (&topology.names.string, 1),
        (&topology.subtypes.string, 1),
        (&topology.infos.name, 0),
        (&topology.infos.value, 0),
        (&topology.memory_attributes.name, 0),
    ];
    let kinds = topology.cpu_kinds.iter();
    let facts = topology.facts.iter().flat_map(|facts| [(&facts.name, 0), (&facts.value, 0)]);
    let of_kinds = kinds.flat_map(|kind| [(&kind.info_name, 0), (&kind.info_value, 0)]);
    own.into_iter().chain(facts).chain(of_kinds)
}

/// Whether no string is longer than `longest`. Reads only a few bytes if all strings are far
/// shorter.
fn has_none_longer(bytes: &[u8], longest: usize) -> bool {
    let mut rest = bytes;
    while let Some(head) = rest.get(..longest.saturating_add(1)) {
        let Some(end) = head.iter().rposition(|byte| *byte == 0) else { return false };
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    true
}

/// Number of bytes of the rows of a column and of their strings.
fn bytes_of(topology: &ArchivedTopology, column: &ArchivedColumn, plus: u64) -> usize {
    let strings = &topology.strings;
    let length = |row: u64| {
        let start = strings.start.get_u32(usize::try_from(row).unwrap_or(usize::MAX));
        let text = strings.bytes.get(start as usize..).unwrap_or_default();
        text.iter().position(|byte| *byte == 0).unwrap_or(text.len())
    };
    let rows = column.iter().map(|value| ROW + value.checked_sub(plus).map_or(0, length));
    rows.fold(0, usize::saturating_add)
}
