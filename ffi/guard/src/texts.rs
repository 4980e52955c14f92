//! Objects in segments whose texts are heap memory: infos, names and subtypes.
//!
//! In a segment they are parts of that segment. But hwloc, and programs by hand, free and
//! reallocate those of a topology that was loaded: PRRTE removes infos from the root. So an object
//! gets its own ones, made with malloc, until the segment is given back.

use crate::hwloc::{Functions, Info, Object, Topology};
use crate::segment::Segments;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::{ptr, slice};

/// Objects in segments whose texts are heap memory, with the number of the segment.
pub(crate) struct OwnTexts(Vec<(usize, *mut Object)>);

impl OwnTexts {
    pub(crate) const NONE: Self = Self(Vec::new());

    /// Makes the infos of an object heap memory, if they are in a segment. False if there is no
    /// memory.
    ///
    /// # Safety
    ///
    /// The object must be valid.
    pub(crate) unsafe fn own_infos(&mut self, segments: &Segments, object: *mut Object) -> bool {
        let Some(segment) = segments.around(object.cast()) else { return true };
        // SAFETY: the caller's object is valid, and the pages of a segment may be written.
        let found = unsafe { &mut *object };
        if !found.infos.is_null() && segments.around(found.infos.cast()).is_none() {
            return true;
        }
        self.note(segment, object);
        own_infos(found)
    }

    /// Makes heap memory of what programs write by hand in a topology: the infos of the root, and
    /// names and subtypes, which objects of the given types have. False if there is no memory.
    ///
    /// # Safety
    ///
    /// The topology must be valid, in a segment, and unknown to the program.
    pub(crate) unsafe fn own(
        &mut self,
        segments: &Segments,
        functions: &Functions,
        topology: Topology,
        named_types: u32,
    ) -> bool {
        // SAFETY: the topology is valid, and has a root.
        let mut is_done =
            unsafe { self.own_infos(segments, (functions.get_object)(topology, 0, 0)) };
        // SAFETY: the topology is valid.
        for level in unsafe { functions.levels(topology) } {
            let is_named = |object: &*mut Object| {
                // SAFETY: hwloc has returned the object.
                let object_type = unsafe { (**object).object_type };
                u32::try_from(object_type).ok().and_then(|it| named_types.checked_shr(it))
            };
            // All objects of a level have one type.
            let mut level = level.peekable();
            if level.peek().and_then(is_named).unwrap_or(0) & 1 == 0 {
                continue;
            }
            for object in level {
                // SAFETY: hwloc has returned the object, and its page may be written.
                let found = unsafe { &mut *object };
                if let Some(segment) = segments.around(object.cast())
                    && !(found.name.is_null() && found.subtype.is_null())
                {
                    self.note(segment, object);
                    is_done &= own_text(&mut found.name) && own_text(&mut found.subtype);
                }
            }
        }
        is_done
    }

    /// Frees the texts of objects in a segment that no topology is in.
    pub(crate) fn free(&mut self, segments: &Segments, segment: usize) {
        self.0.retain(|(of, object)| {
            if *of == segment {
                // SAFETY: the object is in the segment, which is still as programs have left it.
                free_texts(segments, unsafe { &**object });
            }
            *of != segment
        });
    }

    fn note(&mut self, segment: usize, object: *mut Object) {
        if !self.0.contains(&(segment, object)) {
            self.0.push((segment, object));
        }
    }
}

/// Frees the texts of an object that are not in a segment.
fn free_texts(segments: &Segments, object: &Object) {
    let free = |memory: *mut c_void| {
        if segments.around(memory).is_none() {
            // SAFETY: this module, hwloc or the program has made it with malloc, and no code uses
            // it any more.
            unsafe { libc::free(memory) };
        }
    };
    free(object.name);
    free(object.subtype);
    if !object.infos.is_null() && segments.around(object.infos.cast()).is_none() {
        // SAFETY: the array has so many infos.
        let infos = unsafe { slice::from_raw_parts(object.infos, object.infos_count as usize) };
        infos.iter().flat_map(|info| [info.name, info.value]).for_each(free);
        free(object.infos.cast());
    }
}

/// Gives an object an array of infos, and texts in it, that were made with malloc. False if there
/// is no memory.
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
    let mut is_done = true;
    if count > 0 {
        // SAFETY: the object has so many infos, and the new array has room for them.
        unsafe { ptr::copy_nonoverlapping(object.infos, own, count) };
        // SAFETY: so many infos were copied just now.
        for info in unsafe { slice::from_raw_parts_mut(own, count) } {
            is_done &= own_text(&mut info.name) && own_text(&mut info.value);
        }
    }
    object.infos = own;
    is_done
}

/// Replaces a text by a copy that was made with malloc. False if there is no memory.
fn own_text(text: &mut *mut c_void) -> bool {
    if text.is_null() {
        return true;
    }
    // SAFETY: texts of hwloc end with a zero.
    let copy = unsafe { libc::strdup(text.cast()) };
    if copy.is_null() {
        return false;
    }
    *text = copy.cast();
    true
}
