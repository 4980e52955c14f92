//! How much heap is in use.

/// Bytes that malloc has handed out and not got back, of all arenas and of large pieces.
pub(crate) fn in_use() -> i64 {
    // SAFETY: takes nothing and only returns numbers.
    let info = unsafe { libc::mallinfo2() };
    i64::try_from(info.uordblks + info.hblkhd).unwrap_or(i64::MAX)
}
