//! Measures how much heap is in use.

/// Bytes that malloc has handed out and that are not freed yet, in all arenas and in mapped blocks.
pub(crate) fn in_use() -> i64 {
    // SAFETY: the call takes nothing and only returns numbers.
    let info = unsafe { libc::mallinfo2() };
    i64::try_from(info.uordblks + info.hblkhd).unwrap_or(i64::MAX)
}
