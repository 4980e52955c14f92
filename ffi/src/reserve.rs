//! A reserve of memory: a call that finds the heap used up still ends with a status and a message.
//!
//! Rust ends the process if an allocation fails. The allocations of an adoption are few and small,
//! so a reserve inside the library covers them. A page of it is touched only if it is needed.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};

/// The heap of the C library.
struct Heap;

/// Alignment of memory of `malloc` that is at least as large. Smaller pieces may have less.
const MALLOC_ALIGN: usize = 2 * size_of::<usize>();

/// Whether memory of `malloc` is aligned as it must be.
fn is_for_malloc(size: usize, align: usize) -> bool {
    align <= MALLOC_ALIGN && align <= size
}

// SAFETY: `malloc` and `posix_memalign` return NULL, or memory of that size and alignment that
// nobody else has; `realloc` and `free` take memory of both.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_for_malloc(layout.size(), layout.align()) {
            // SAFETY: `malloc` takes any size.
            return unsafe { libc::malloc(layout.size()) }.cast();
        }
        let mut memory = null_mut();
        let align = layout.align().max(size_of::<usize>());
        // SAFETY: the alignment is a power of two and a multiple of the size of a pointer. The
        // pointer is written to a local variable.
        match unsafe { libc::posix_memalign(&raw mut memory, align, layout.size()) } {
            0 => memory.cast(),
            _ => null_mut(),
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: `alloc` or `realloc` returned this memory, and the caller gives it up.
        unsafe { libc::free(memory.cast()) };
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_for_malloc(size, layout.align()) {
            // SAFETY: `alloc` or `realloc` returned this memory, and the caller gives it up.
            return unsafe { libc::realloc(memory.cast(), size) }.cast();
        }
        let Ok(larger) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        // SAFETY: the caller passes a `size` above 0.
        let moved = unsafe { self.alloc(larger) };
        if !moved.is_null() {
            // SAFETY: both have the bytes that are copied, and the new memory is nobody else's. The
            // caller gives up the old memory, which `alloc` returned for `layout`.
            unsafe {
                memory.copy_to_nonoverlapping(moved, layout.size().min(size));
                self.dealloc(memory, layout);
            }
        }
        moved
    }
}

#[global_allocator]
static MEMORY: Memory = Memory;

/// The allocator: the heap of the C library and, if that is used up, the reserve.
struct Memory;

/// Bytes of a piece: room for the longest path.
const PIECE: usize = 4096;
const PIECES: usize = 16;

#[repr(C, align(16))]
struct Reserve(UnsafeCell<[[u8; PIECE]; PIECES]>);

// SAFETY: only the owner of a piece's bit in `TAKEN` uses the piece, and the Acquire and Release on
// `TAKEN` order the uses of one owner before those of the next.
unsafe impl Sync for Reserve {}

/// In a section of its own, so that the small values of the library are together in one page.
#[unsafe(link_section = ".bss.reserve")]
static RESERVE: Reserve = Reserve(UnsafeCell::new([[0; PIECE]; PIECES]));
/// One bit for each piece that is in use.
static TAKEN: AtomicU32 = AtomicU32::new(0);

// Not inlined, because these few lines would be in 400 functions: 5 % of the thin library.
// SAFETY: memory of `Heap` is passed on unchanged and goes back to `Heap` alone. A piece of the
// reserve has `PIECE` bytes, is aligned as `Reserve`, serves only layouts that need no more than
// that, has one owner at a time, and never goes to `Heap`.
unsafe impl GlobalAlloc for Memory {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller passes a layout with a size above 0, as `GlobalAlloc::alloc` demands.
        let heap = unsafe { Heap.alloc(layout) };
        if heap.is_null() { take(layout) } else { heap }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match piece_of(memory) {
            Some(piece) => _ = TAKEN.fetch_and(!(1 << piece), Ordering::Release),
            // SAFETY: `memory` is not in the reserve, so `Heap` allocated it for this layout.
            None => unsafe { Heap.dealloc(memory, layout) },
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if piece_of(memory).is_some() {
            return match size <= PIECE {
                true => memory,
                // SAFETY: `memory` is in the reserve, so it is a piece that was given for `layout`.
                false => unsafe { self.leave_reserve(memory, layout, size) },
            };
        }
        // SAFETY: `memory` is not in the reserve, so `Heap` allocated it for `layout`. The caller
        // passes a `size` above 0.
        let heap = unsafe { Heap.realloc(memory, layout, size) };
        if !heap.is_null() {
            return heap;
        }
        let piece = Layout::from_size_align(size, layout.align()).map_or(null_mut(), take);
        if !piece.is_null() {
            // SAFETY: the old memory has `layout.size()` bytes and the new piece at least `size`.
            // They do not overlap, because the piece was free. `Heap` allocated `memory` for
            // `layout` and still owns it, because its `realloc` failed.
            unsafe {
                memory.copy_to_nonoverlapping(piece, layout.size().min(size));
                Heap.dealloc(memory, layout);
            }
        }
        piece
    }
}

impl Memory {
    /// Moves the contents of a piece of the reserve to the heap, which may have memory again.
    /// Returns NULL if it has not.
    ///
    /// # Safety
    ///
    /// `memory` is a piece that was given for `layout`, and `size` is larger than `PIECE`.
    unsafe fn leave_reserve(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(larger) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        // SAFETY: the size of `larger` is not 0, because it is larger than a piece.
        let heap = unsafe { Heap.alloc(larger) };
        if !heap.is_null() {
            // SAFETY: both have at least `layout.size()` bytes. They do not overlap, because the
            // new memory comes from the heap. `memory` was given for `layout`, and nobody uses it
            // any more.
            unsafe {
                memory.copy_to_nonoverlapping(heap, layout.size());
                self.dealloc(memory, layout);
            }
        }
        heap
    }
}

/// Takes a free piece of the reserve. Returns NULL if none is left or if a piece is too small.
#[cold]
fn take(layout: Layout) -> *mut u8 {
    if layout.size() > PIECE || layout.align() > align_of::<Reserve>() {
        return null_mut();
    }
    let first_free = |taken: u32| {
        let piece = taken.trailing_ones();
        ((piece as usize) < PIECES).then_some(taken | 1 << piece)
    };
    match TAKEN.fetch_update(Ordering::Acquire, Ordering::Relaxed, first_free) {
        Ok(before) => {
            let piece = before.trailing_ones() as usize;
            RESERVE.0.get().cast::<u8>().wrapping_add(piece * PIECE)
        }
        Err(_) => null_mut(),
    }
}

/// Number of the piece that `memory` points into; `None` if it is not in the reserve.
fn piece_of(memory: *mut u8) -> Option<usize> {
    let offset = memory.addr().checked_sub(RESERVE.0.get().addr())?;
    Some(offset / PIECE).filter(|piece| *piece < PIECES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_of_the_reserve_is_given_once_and_again_when_it_is_back() {
        let layout = Layout::from_size_align(100, 16).unwrap();
        let all: Vec<*mut u8> = (0..PIECES).map(|_| take(layout)).collect();
        let mut places: Vec<usize> = all.iter().map(|piece| piece.addr()).collect();
        places.dedup();
        assert!(places.len() == PIECES && all.iter().all(|piece| piece_of(*piece).is_some()));
        assert!(take(layout).is_null());
        // SAFETY: `take` gave each piece for this layout, and each is freed once.
        all.iter().for_each(|piece| unsafe { Memory.dealloc(*piece, layout) });
        assert!(take(Layout::from_size_align(PIECE + 1, 1).unwrap()).is_null());
        let again = take(layout);
        assert_eq!(again, all[0]);
        // SAFETY: `take` gave the piece for `layout`. Each layout is the one of the last call for
        // that memory, and each piece of memory is freed once.
        unsafe {
            assert_eq!(Memory.realloc(again, layout, PIECE), again);
            again.write(7);
            let piece = Layout::from_size_align(PIECE, 16).unwrap();
            let moved = Memory.realloc(again, piece, PIECE + 1);
            assert!(piece_of(moved).is_none() && moved.read() == 7);
            Heap.dealloc(moved, Layout::from_size_align(PIECE + 1, 16).unwrap());
            assert_eq!(take(layout), again);
            Memory.dealloc(again, layout);
        }
    }
}
