//! Handles: topologies that a process has, in a segment that others may have too.

use crate::hwloc::{Functions, Hwloc, Topology};
use crate::segment::Segment;
use core::ffi::c_void;
use core::ptr;

/// A topology in a segment.
#[derive(Clone, Copy)]
pub(crate) struct Handle {
    pub(crate) topology: Topology,
    /// Number of its segment.
    pub(crate) segment: usize,
    /// Whether the program has loaded it, and not adopted or copied.
    pub(crate) is_loaded: bool,
}

/// A copy of hwloc's structure, with the arrays that hwloc frees with it. If hwloc itself destroys
/// it, because somebody calls past the guard, it unmaps 0 bytes.
pub(crate) fn copy_of_master(hwloc: &Hwloc, segment: &Segment) -> Option<Topology> {
    // SAFETY: `malloc` takes any size.
    let copy = unsafe { libc::malloc(segment.size) };
    if copy.is_null() {
        return None;
    }
    // SAFETY: both structures have that many bytes, and the copy is new.
    unsafe { ptr::copy_nonoverlapping(segment.master.cast::<u8>(), copy.cast(), segment.size) };
    // SAFETY: the place is inside the structure and aligned.
    unsafe { copy.byte_add(segment.length_at).cast::<usize>().write(0) };
    // SAFETY: the copy is a topology, of which hwloc returns a part.
    let arrays = unsafe { &mut *(hwloc.functions.get_support)(copy) };
    for array in arrays {
        // SAFETY: hwloc has made the array with malloc.
        *array = unsafe { malloc_copy(*array) };
        if array.is_null() {
            // What was copied before is lost: the process has no memory left.
            return None;
        }
    }
    Some(copy)
}

/// A copy of memory of `malloc`; NULL if there is none left.
///
/// # Safety
///
/// `malloc` must have returned the memory.
unsafe fn malloc_copy(memory: *mut c_void) -> *mut c_void {
    // SAFETY: the caller vouches for it.
    let size = unsafe { libc::malloc_usable_size(memory) };
    // SAFETY: `malloc` takes any size.
    let copy = unsafe { libc::malloc(size) };
    if !copy.is_null() {
        // SAFETY: both have that many bytes, and the copy is new.
        unsafe { ptr::copy_nonoverlapping(memory.cast::<u8>(), copy.cast(), size) };
    }
    copy
}

/// Frees what [`copy_of_master`] has made.
pub(crate) fn free_copy(hwloc: &Hwloc, copy: Topology) {
    // SAFETY: `copy_of_master` has made the structure and the arrays with malloc.
    unsafe {
        for array in *(hwloc.functions.get_support)(copy) {
            libc::free(array);
        }
        libc::free(copy);
    }
}

/// Exchanges what two topologies are, except for what the user has attached to them. Both keep
/// their addresses.
pub(crate) fn exchange(hwloc: &Hwloc, one: Topology, other: Topology) {
    let Functions { get_userdata, set_userdata, .. } = hwloc.functions;
    // SAFETY: both are topologies of this hwloc, made with malloc, and no other thread uses them:
    // `one` is being loaded or modified, and no other code knows the other. hwloc's structure has
    // no pointer to itself.
    unsafe {
        let size = libc::malloc_usable_size(one).min(libc::malloc_usable_size(other));
        let attached = get_userdata(one);
        ptr::swap_nonoverlapping(one.cast::<u8>(), other.cast::<u8>(), size);
        set_userdata(one, attached);
    }
}
