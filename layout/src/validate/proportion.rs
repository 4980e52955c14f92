//! The limit on the work that an archive may cause, in proportion to its size.

/// Maximum number of rows of a table, and of bytes of text that rows refer to, for each byte of the
/// archive. A column of equal values takes no bytes and strings are stored once, so without this
/// limit a small archive could keep a process busy.
pub(crate) const ROWS_A_BYTE: usize = 64;
