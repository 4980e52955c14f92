//! Texts, one behind the other, and the end of each.

use crate::column::{ArchivedColumn, Column};
use alloc::vec::Vec;

/// Packs texts as their bytes and the end of each.
#[must_use]
pub fn pack_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> (Column, Vec<u8>) {
    let (mut ends, mut bytes) = (Vec::new(), Vec::new());
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        ends.push(bytes.len() as u64);
    }
    (Column::pack(&ends), bytes)
}

/// A text that [`pack_texts`] packed.
#[must_use]
pub fn text_at<'a>(ends: &ArchivedColumn, bytes: &'a [u8], row: usize) -> &'a str {
    let end = |row: usize| usize::try_from(ends.get(row)).unwrap_or(usize::MAX);
    let first = row.checked_sub(1).map_or(0, end);
    core::str::from_utf8(bytes.get(first..end(row)).unwrap_or_default()).unwrap_or_default()
}
