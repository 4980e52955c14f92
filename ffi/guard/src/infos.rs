//! Objects in segments that have infos of their own.
//!
//! The array of an object in a segment is a part of that segment, and hwloc would reallocate it. So
//! the object gets an array of its own first, until the segment is given back.

use crate::hwloc::{Info, Object};
use crate::segment::Segments;
use alloc::vec::Vec;
use core::{ptr, slice};

/// Objects in segments that have infos of their own, with the number of the segment.
pub(crate) struct OwnInfos(Vec<(usize, *mut Object)>);

impl OwnInfos {
    pub(crate) const NONE: Self = Self(Vec::new());

    /// Gives an object in a segment infos of its own. False if there is no memory.
    ///
    /// # Safety
    ///
    /// The object must be valid.
    pub(crate) unsafe fn give(&mut self, segments: &Segments, object: *mut Object) -> bool {
        let Some(segment) = segments.around(object.cast()) else { return true };
        // SAFETY: the caller's object is valid, and the pages of a segment may be written.
        let found = unsafe { &mut *object };
        if !found.infos.is_null() && segments.around(found.infos.cast()).is_none() {
            return true;
        }
        let is_given = own_infos(found);
        if is_given {
            self.0.push((segment, object));
        }
        is_given
    }

    /// Frees the infos of objects in a segment that nobody has a topology in.
    pub(crate) fn free(&mut self, segments: &Segments, segment: usize) {
        self.0.retain(|(of, object)| {
            if *of == segment {
                // SAFETY: the object is in the segment, which is still as programs have left it.
                free_infos(segments, unsafe { &**object });
            }
            *of != segment
        });
    }
}

fn free_infos(segments: &Segments, object: &Object) {
    if object.infos.is_null() || segments.around(object.infos.cast()).is_some() {
        return;
    }
    // SAFETY: the array that `own_infos` or hwloc has made with malloc has so many infos.
    let infos = unsafe { slice::from_raw_parts(object.infos, object.infos_count as usize) };
    for text in infos.iter().flat_map(|info| [info.name, info.value]) {
        if segments.around(text).is_none() {
            // SAFETY: hwloc has made the text with malloc.
            unsafe { libc::free(text) };
        }
    }
    // SAFETY: as above, and nobody uses the array any more.
    unsafe { libc::free(object.infos.cast()) };
}

/// Gives an object an array of infos that was made with malloc. False if there is no memory.
fn own_infos(object: &mut Object) -> bool {
    /// hwloc makes room for so many infos at once.
    const STEP: usize = 8;
    let count = object.infos_count as usize;
    let room = (count / STEP + 1) * STEP;
    // SAFETY: `malloc` takes any size.
    let own: *mut Info = unsafe { libc::malloc(room * size_of::<Info>()) }.cast();
    if own.is_null() {
        return false;
    }
    if count > 0 {
        // SAFETY: the object has so many infos, and the new array has room for them.
        unsafe { ptr::copy_nonoverlapping(object.infos, own, count) };
    }
    object.infos = own;
    true
}
