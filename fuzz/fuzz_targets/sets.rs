//! Sets do the same as hwloc's bitmaps, and have the same texts.
#![no_main]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a fault ends the run")]

use hwlocality::bitmap::{Bitmap, BitmapIndex};
use libfuzzer_sys::fuzz_target;
use std::cmp::Ordering;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use topobroker_layout::set::{Format, Set};

unsafe extern "C" {
    fn hwloc_bitmap_alloc() -> *mut c_void;
    fn hwloc_bitmap_free(set: *mut c_void);
    fn hwloc_bitmap_sscanf(set: *mut c_void, text: *const c_char) -> c_int;
    fn hwloc_bitmap_list_sscanf(set: *mut c_void, text: *const c_char) -> c_int;
    fn hwloc_bitmap_taskset_sscanf(set: *mut c_void, text: *const c_char) -> c_int;
    fn hwloc_bitmap_snprintf(text: *mut c_char, size: usize, set: *const c_void) -> c_int;
    fn hwloc_bitmap_list_snprintf(text: *mut c_char, size: usize, set: *const c_void) -> c_int;
    fn hwloc_bitmap_taskset_snprintf(text: *mut c_char, size: usize, set: *const c_void) -> c_int;
}

/// Lets hwloc read a text and write it again; `None` if hwloc refuses the text.
fn hwlocs_text(text: &CStr, format: Format) -> Option<String> {
    let mut room = vec![0u8; 1 << 17];
    // SAFETY: this block allocates and frees the bitmap, `text` ends with a zero, and `size` is the
    // length of `room`.
    unsafe {
        let set = hwloc_bitmap_alloc();
        let (size, out) = (room.len(), room.as_mut_ptr().cast());
        let length = match format {
            Format::List if hwloc_bitmap_list_sscanf(set, text.as_ptr()) == 0 => {
                hwloc_bitmap_list_snprintf(out, size, set)
            }
            Format::Taskset if hwloc_bitmap_taskset_sscanf(set, text.as_ptr()) == 0 => {
                hwloc_bitmap_taskset_snprintf(out, size, set)
            }
            Format::Hwloc if hwloc_bitmap_sscanf(set, text.as_ptr()) == 0 => {
                hwloc_bitmap_snprintf(out, size, set)
            }
            _ => -1,
        };
        hwloc_bitmap_free(set);
        room.truncate(usize::try_from(length).ok().filter(|length| *length < size)?);
    }
    String::from_utf8(room).ok()
}

/// hwloc's bitmap of a set.
fn hwlocs(set: &Set) -> Bitmap {
    let mut bitmap = Bitmap::new();
    for (at, word) in set.words().iter().enumerate() {
        for bit in (0..64).filter(|bit| word >> bit & 1 != 0) {
            bitmap.set(at * 64 + bit);
        }
    }
    if set.is_infinite() {
        bitmap.set_range(BitmapIndex::try_from(set.words().len() * 64).expect("an index")..);
    }
    bitmap
}

fn is_same(ours: &Set, theirs: &Bitmap) -> bool {
    hwlocs(ours) == *theirs
}

fuzz_target!(|data: (Vec<u64>, bool, Vec<u64>, bool, u16, &str)| {
    let (one, infinite, other, other_infinite, index, text) = data;
    let one = Set::from_words(one.into_iter().take(20), infinite);
    let other = Set::from_words(other.into_iter().take(20), other_infinite);
    let (a, b) = (hwlocs(&one), hwlocs(&other));
    assert!(is_same(&(&one & &other), &(&a & &b)));
    assert!(is_same(&(&one | &other), &(&a | &b)));
    assert!(is_same(&(&one ^ &other), &(&a ^ &b)));
    assert!(is_same(&one.and_not(&other), &(&a - &b)));
    assert!(is_same(&!&one, &!&a));
    assert_eq!(one.intersects(&other), a.intersects(&b));
    assert_eq!(one.is_included_in(&other), b.includes(&a));
    assert_eq!(one.weight().map(|weight| weight as usize), a.weight());
    assert_eq!(one.is_empty(), a.is_empty());
    let number =
        |index: Option<BitmapIndex>| index.map(|index| u32::try_from(usize::from(index)).unwrap());
    assert_eq!(one.first(), number(a.first_set()));
    if !infinite {
        assert_eq!(one.last(), number(a.last_set()));
    }
    assert_eq!(one.contains(u32::from(index)), a.is_set(usize::from(index)));
    assert_eq!(one.cmp(&other) == Ordering::Equal, a == b);
    if !infinite {
        let theirs = a.iter_set().filter_map(|index| number(Some(index)));
        assert!(one.iter().eq(theirs));
    }
    if !one.is_empty() {
        let mut single = a.clone();
        single.singlify();
        assert!(is_same(&one.singlify(), &single));
    }
    for format in [Format::Hwloc, Format::List, Format::Taskset] {
        for set in [&one, &other] {
            let text = set.to_text(format);
            assert_eq!(Set::parse(&text, format).as_ref(), Ok(set));
            let c = CString::new(text.clone()).expect("no 0 in it");
            assert_eq!(hwlocs_text(&c, format).as_deref(), Some(text.as_str()), "{format:?}");
        }
        // hwloc accepts more texts than `Set`, because it may stop reading before the end.
        let Ok(c) = CString::new(text) else { continue };
        if let Ok(set) = Set::parse(text, format) {
            assert_eq!(hwlocs_text(&c, format), Some(set.to_text(format)), "{text:?} {format:?}");
        }
    }
});
