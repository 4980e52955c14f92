//! Measures how much heap is in use.

use core::ffi::CStr;

/// Bytes that malloc has handed out and that are not freed yet, in all arenas and in mapped blocks.
/// With a C library before 2.33 the count begins again at each 4 GB.
pub(crate) fn in_use() -> i64 {
    type MallInfo2 = unsafe extern "C" fn() -> libc::mallinfo2;
    const NAME: &CStr = c"mallinfo2";
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, NAME.as_ptr()) };
    if found.is_null() {
        // SAFETY: the call takes nothing and only returns numbers.
        let info = unsafe { libc::mallinfo() };
        return i64::from(info.uordblks.cast_unsigned()) + i64::from(info.hblkhd.cast_unsigned());
    }
    // SAFETY: the C library's function of this name has this type, and `found` is not NULL.
    let read: MallInfo2 = unsafe { core::mem::transmute(found) };
    // SAFETY: the call takes nothing and only returns numbers.
    let info = unsafe { read() };
    i64::try_from(info.uordblks + info.hblkhd).unwrap_or(i64::MAX)
}
