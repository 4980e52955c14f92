//! How much an archive may ask of a process for its size.

/// Most rows of a table, and most bytes of text that its rows refer to, for each byte of the archive: columns of equal
/// values take none and strings are stored once, and a small archive must not keep a process busy.
pub(super) const ROWS_A_BYTE: usize = 64;
