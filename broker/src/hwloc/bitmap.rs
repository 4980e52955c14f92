//! Reads hwloc's bitmaps.

use hwlocality_sys::{self as sys, hwloc_const_bitmap_t};
use std::ffi::{c_int, c_uint, c_ulong};
use topobroker_layout::archive::MAX_SET_WORDS;
use topobroker_layout::set::Set;

// The bindings lack this function; the signature is that of hwloc/bitmap.h.
unsafe extern "C" {
    fn hwloc_bitmap_to_ith_ulong(bitmap: hwloc_const_bitmap_t, i: c_uint) -> c_ulong;
}

/// What hwloc returns if a bitmap has no last index. Because the result is an `int`, it is also -1
/// for index 2^32 - 1, and negative for all indexes from 2^31.
const NONE: c_int = -1;

/// A bitmap has a higher index than an archive holds. hwloc accepts any index, for example from
/// XML, and gives a PU without an index 2^32 - 1.
#[derive(Debug)]
pub(crate) struct BitmapTooLarge {
    /// The last set index; the last unset one if the bitmap is infinite.
    pub(crate) last: u32,
}

/// Copies a bitmap into a set; a null pointer gives the empty set.
pub(super) fn read(bitmap: hwloc_const_bitmap_t) -> Result<Set, BitmapTooLarge> {
    if bitmap.is_null() {
        return Ok(Set::new());
    }
    // SAFETY: `bitmap` is not null, and callers pass a live bitmap. hwloc accepts any word number:
    // words past the end read as zeros or as ones.
    let word = |i| unsafe { hwloc_bitmap_to_ith_ulong(bitmap, i) };
    // SAFETY: `bitmap` is not null, and callers pass a live bitmap.
    let last = unsafe { sys::hwloc_bitmap_last(bitmap) };
    let infinite = last == NONE && word(u32::MAX) != 0;
    // SAFETY: `bitmap` is not null, and callers pass a live bitmap.
    let last = if infinite { unsafe { sys::hwloc_bitmap_last_unset(bitmap) } } else { last };
    // SAFETY: `bitmap` is not null, and callers pass a live bitmap.
    let alike = || unsafe { sys::hwloc_bitmap_iszero(bitmap) | sys::hwloc_bitmap_isfull(bitmap) };
    let count = match u32::try_from(last) {
        Ok(last) if last as usize / 64 < MAX_SET_WORDS => last / c_ulong::BITS + 1,
        Err(_) if last == NONE && alike() != 0 => 0,
        _ => return Err(BitmapTooLarge { last: last.cast_unsigned() }),
    };
    #[cfg(target_pointer_width = "64")]
    let words = (0..count).map(word);
    #[cfg(target_pointer_width = "32")]
    let words =
        (0..count.div_ceil(2)).map(|i| u64::from(word(2 * i)) | (u64::from(word(2 * i + 1)) << 32));
    Ok(Set::from_words(words, infinite))
}
