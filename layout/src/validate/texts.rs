//! The text that rows refer to is in proportion to the archive: each string is stored once, however many rows name it,
//! and whoever copies a topology has all of them.

use super::proportion::ROWS_A_BYTE;
use super::rule::ensure;
use crate::archive::ArchivedTopology;
use crate::column::ArchivedColumn;
use crate::error::ValidationError;

/// Bytes that a row takes wherever a topology is copied, besides its text.
const ROW: usize = 16;

pub(super) fn check(
    topology: &ArchivedTopology,
    archive_len: usize,
) -> Result<(), ValidationError> {
    let most = archive_len.saturating_mul(ROWS_A_BYTE);
    let rows = columns(topology).map(|(column, _)| column.len()).fold(0, usize::saturating_add);
    // Nearly always the strings are too short for more.
    let share = most.checked_div(rows).map_or(usize::MAX, |share| share.saturating_sub(ROW));
    if has_none_longer(&topology.strings.bytes, share) {
        return Ok(());
    }
    let found = columns(topology).map(|(column, plus)| bytes_of(topology, column, plus));
    let found = found.fold(0, usize::saturating_add);
    ensure(found <= most, "strings.bytes", found, "is referred to in proportion to the archive")
}

/// Columns of strings, each with what its values are above the number of the string.
fn columns(topology: &ArchivedTopology) -> impl Iterator<Item = (&ArchivedColumn, u64)> {
    let own = [
        (&topology.names.string, 1),
        (&topology.subtypes.string, 1),
        (&topology.infos.name, 0),
        (&topology.infos.value, 0),
        (&topology.memory_attributes.name, 0),
    ];
    let kinds = topology.cpu_kinds.iter();
    own.into_iter().chain(kinds.flat_map(|kind| [(&kind.info_name, 0), (&kind.info_value, 0)]))
}

/// Whether no string is longer than that. Of strings that are far shorter few bytes are looked at.
fn has_none_longer(bytes: &[u8], longest: usize) -> bool {
    let mut rest = bytes;
    while let Some(head) = rest.get(..longest.saturating_add(1)) {
        let Some(end) = head.iter().rposition(|byte| *byte == 0) else { return false };
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    true
}

/// Bytes of the rows of a column and of their strings.
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
