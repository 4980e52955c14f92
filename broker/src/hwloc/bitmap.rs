//! hwloc's bitmaps, read.

use hwlocality_sys::hwloc_const_bitmap_t;
use std::ffi::{c_int, c_uint, c_ulong};
use topobroker_layout::set::Set;

// Left out by the bindings; signatures as in hwloc/bitmap.h.
unsafe extern "C" {
    fn hwloc_bitmap_to_ith_ulong(bitmap: hwloc_const_bitmap_t, i: c_uint) -> c_ulong;
    fn hwloc_bitmap_nr_ulongs(bitmap: hwloc_const_bitmap_t) -> c_int;
}

/// The set that a bitmap holds; the empty set of a null pointer.
pub(super) fn read(bitmap: hwloc_const_bitmap_t) -> Set {
    if bitmap.is_null() {
        return Set::new();
    }
    // SAFETY: callers pass null or a bitmap that a live topology owns.
    let finite = u32::try_from(unsafe { hwloc_bitmap_nr_ulongs(bitmap) });
    let infinite = finite.is_err();
    let count = match finite {
        Ok(count) => count,
        // SAFETY: as above.
        Err(_) => unsafe { last_unset_word(bitmap) },
    };
    // SAFETY: as above; words past the end read as zeros or as ones.
    let word = |i| unsafe { hwloc_bitmap_to_ith_ulong(bitmap, i) };
    #[cfg(target_pointer_width = "64")]
    let words = (0..count).map(word);
    #[cfg(target_pointer_width = "32")]
    let words =
        (0..count.div_ceil(2)).map(|i| u64::from(word(2 * i)) | (u64::from(word(2 * i + 1)) << 32));
    Set::from_words(words, infinite)
}

/// Number of words up to the last bit that an infinite bitmap lacks.
///
/// # Safety
///
/// `bitmap` must be a live bitmap.
unsafe fn last_unset_word(bitmap: hwloc_const_bitmap_t) -> u32 {
    // SAFETY: the caller's promise.
    let last = unsafe { hwlocality_sys::hwloc_bitmap_last_unset(bitmap) };
    u32::try_from(last).map_or(0, |last| last / c_ulong::BITS + 1)
}
