//! hwloc's bitmaps, for tests and benchmarks that make the same sets in topobroker and in hwloc.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use topobroker_layout::set::Set;

/// An hwloc bitmap.
#[derive(Debug)]
pub struct Bitmap(*mut c_void);

unsafe extern "C" {
    fn rival_bitmap(words: *const u64, count: c_uint, infinite: c_int) -> *mut c_void;
    fn rival_bitmap_free(s: *mut c_void);
    fn rival_bitmap_word(s: *mut c_void, i: c_uint) -> u64;
    fn rival_bitmap_words(s: *mut c_void) -> c_int;
    fn rival_bitmap_sum(s: *mut c_void) -> u64;
    fn rival_bitmap_weight(s: *mut c_void) -> c_int;
    fn rival_bitmap_is_included(a: *mut c_void, b: *mut c_void) -> c_int;
    fn rival_bitmap_and(out: *mut c_void, a: *mut c_void, b: *mut c_void) -> c_int;
    fn rival_bitmap_parse(out: *mut c_void, text: *const c_char) -> c_int;
    fn rival_bitmap_print(buffer: *mut c_char, length: usize, s: *mut c_void) -> c_int;
}

/// Calls a function of `queries.c`.
macro_rules! ask {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: a `Bitmap` frees its bitmap only when it is dropped, and the length of a buffer
        // is passed with it.
        unsafe { $function($($argument),*) }
    };
}

#[allow(missing_docs, reason = "named as the operations of topobroker-layout's Set")]
impl Bitmap {
    /// Takes over an hwloc bitmap.
    pub(crate) fn from_raw(raw: *mut c_void) -> Self {
        Self(raw)
    }

    pub(crate) fn raw(&self) -> *mut c_void {
        self.0
    }

    /// The hwloc bitmap with the indexes of a set.
    pub fn new(set: &Set) -> Self {
        let words = set.words();
        let count = u32::try_from(words.len()).unwrap_or(0);
        Self(ask!(rival_bitmap(words.as_ptr(), count, c_int::from(set.is_infinite()))))
    }

    /// The set with the indexes of the bitmap, which must be finite.
    pub fn to_set(&self) -> Set {
        let words = u32::try_from(ask!(rival_bitmap_words(self.0))).unwrap_or(0);
        Set::from_words((0..words).map(|index| ask!(rival_bitmap_word(self.0, index))), false)
    }

    pub fn sum(&self) -> u64 {
        ask!(rival_bitmap_sum(self.0))
    }

    pub fn weight(&self) -> i32 {
        ask!(rival_bitmap_weight(self.0))
    }

    pub fn is_included_in(&self, other: &Self) -> bool {
        ask!(rival_bitmap_is_included(self.0, other.0)) != 0
    }

    pub fn set_to_and(&mut self, one: &Self, two: &Self) {
        ask!(rival_bitmap_and(self.0, one.0, two.0));
    }

    pub fn parse(&mut self, text: &CStr) {
        ask!(rival_bitmap_parse(self.0, text.as_ptr()));
    }

    pub fn print_list(&self, buffer: &mut [u8]) -> i32 {
        ask!(rival_bitmap_print(buffer.as_mut_ptr().cast(), buffer.len(), self.0))
    }
}

impl Drop for Bitmap {
    fn drop(&mut self) {
        ask!(rival_bitmap_free(self.0));
    }
}
