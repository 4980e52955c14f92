//! hwloc's bitmaps, read.

use hwlocality_sys::{self as sys, hwloc_const_bitmap_t};
use std::ffi::{c_int, c_uint, c_ulong};
use topobroker_layout::archive::MAX_SET_WORDS;
use topobroker_layout::set::Set;

// Left out by the bindings; signature as in hwloc/bitmap.h.
unsafe extern "C" {
    fn hwloc_bitmap_to_ith_ulong(bitmap: hwloc_const_bitmap_t, i: c_uint) -> c_ulong;
}

/// What hwloc says where there is no last index. Also of index 2^32 - 1, as an int; from 2^31 on they are negative.
const NONE: c_int = -1;

/// A bitmap reaches further than an archive holds. hwloc takes any index, from XML for one, and 2^32 - 1 for that
/// of a PU which has none.
#[derive(Debug)]
pub(crate) struct BitmapTooLarge {
    /// The last index that it has, or lacks if it is infinite.
    pub(crate) last: u32,
}

/// The set that a bitmap holds; the empty set of a null pointer.
pub(super) fn read(bitmap: hwloc_const_bitmap_t) -> Result<Set, BitmapTooLarge> {
    if bitmap.is_null() {
        return Ok(Set::new());
    }
    // SAFETY: callers pass null or a live bitmap; words past the end read as zeros or as ones.
    let word = |i| unsafe { hwloc_bitmap_to_ith_ulong(bitmap, i) };
    // SAFETY: as above.
    let last = unsafe { sys::hwloc_bitmap_last(bitmap) };
    let infinite = last == NONE && word(u32::MAX) != 0;
    // SAFETY: as above.
    let last = if infinite { unsafe { sys::hwloc_bitmap_last_unset(bitmap) } } else { last };
    // SAFETY: as above.
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
