//! hwloc's bitmaps, read.

use hwlocality_sys::{self as sys, hwloc_const_bitmap_t};
use std::ffi::{c_uint, c_ulong};
use topobroker_layout::archive::MAX_SET_WORDS;
use topobroker_layout::set::Set;

// Left out by the bindings; signature as in hwloc/bitmap.h.
unsafe extern "C" {
    fn hwloc_bitmap_to_ith_ulong(bitmap: hwloc_const_bitmap_t, i: c_uint) -> c_ulong;
}

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
    // SAFETY: callers pass null or a bitmap that a live topology owns; words past the end read as zeros or as ones.
    let word = |i| unsafe { hwloc_bitmap_to_ith_ulong(bitmap, i) };
    let infinite = word(u32::MAX) != 0;
    // SAFETY: as above.
    let (last, none) = unsafe {
        match infinite {
            true => (sys::hwloc_bitmap_last_unset(bitmap), sys::hwloc_bitmap_isfull(bitmap)),
            false => (sys::hwloc_bitmap_last(bitmap), sys::hwloc_bitmap_iszero(bitmap)),
        }
    };
    // It is an int: from 2^31 on negative, and -1 of none as of the highest.
    let last = last.cast_unsigned();
    let count = match last {
        _ if none != 0 => 0,
        _ if last as usize / 64 < MAX_SET_WORDS => last / c_ulong::BITS + 1,
        _ => return Err(BitmapTooLarge { last }),
    };
    #[cfg(target_pointer_width = "64")]
    let words = (0..count).map(word);
    #[cfg(target_pointer_width = "32")]
    let words =
        (0..count.div_ceil(2)).map(|i| u64::from(word(2 * i)) | (u64::from(word(2 * i + 1)) << 32));
    Ok(Set::from_words(words, infinite))
}
