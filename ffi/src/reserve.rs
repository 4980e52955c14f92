//! Memory for when there is none: a call that finds the heap used up still ends with a status and its message.
//!
//! Rust ends the process where memory cannot be had. The allocations of an adoption are few and small, so a reserve
//! that is a part of the library covers them; a page of it is touched only if it is needed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

#[global_allocator]
static MEMORY: Memory = Memory;

/// The heap of the C library and, behind it, the reserve.
struct Memory;

/// Bytes of a piece: as much as the longest path takes.
const PIECE: usize = 4096;
const PIECES: usize = 16;

#[repr(C, align(4096))]
struct Reserve(UnsafeCell<[[u8; PIECE]; PIECES]>);

// SAFETY: a piece is used by whoever has its bit in `TAKEN`, and by nobody else.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve(UnsafeCell::new([[0; PIECE]; PIECES]));
/// A bit for each piece that is in use.
static TAKEN: AtomicU32 = AtomicU32::new(0);

// SAFETY: what `System` gives is handed on as it is. A piece of the reserve is `PIECE` bytes at a multiple of `PIECE`,
// given for no more and no stricter alignment than that, to one at a time, and never handed to `System`.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's own layout.
        let heap = unsafe { System.alloc(layout) };
        if heap.is_null() { take(layout) } else { heap }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match piece_of(memory) {
            Some(piece) => _ = TAKEN.fetch_and(!(1 << piece), Ordering::Release),
            // SAFETY: not of the reserve, so `System` gave it for this layout.
            None => unsafe { System.dealloc(memory, layout) },
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if piece_of(memory).is_some() {
            return match size <= PIECE {
                true => memory,
                // SAFETY: a piece, of which the caller has used no more than its layout says.
                false => unsafe { self.leave_reserve(memory, layout, size) },
            };
        }
        // SAFETY: not of the reserve, so `System` gave it for this layout.
        let heap = unsafe { System.realloc(memory, layout, size) };
        if !heap.is_null() {
            return heap;
        }
        let piece = Layout::from_size_align(size, layout.align()).map_or(null_mut(), take);
        if !piece.is_null() {
            // SAFETY: both have as many bytes, a new piece is nobody else's, and `System` gave the old memory.
            unsafe {
                memory.copy_to_nonoverlapping(piece, layout.size().min(size));
                System.dealloc(memory, layout);
            }
        }
        piece
    }
}

impl Memory {
    /// Moves what is in a piece of the reserve to the heap, which has memory again, perhaps.
    ///
    /// # Safety
    ///
    /// `memory` is a piece that was given for `layout`.
    unsafe fn leave_reserve(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(larger) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        // SAFETY: `larger` has bytes, as what grows beyond a piece has.
        let heap = unsafe { System.alloc(larger) };
        if !heap.is_null() {
            // SAFETY: both have as many bytes as the smaller one, and the new memory is nobody else's.
            unsafe {
                memory.copy_to_nonoverlapping(heap, layout.size());
                self.dealloc(memory, layout);
            }
        }
        heap
    }
}

/// A piece of the reserve, NULL if none is left or it is too small.
#[cold]
fn take(layout: Layout) -> *mut u8 {
    if layout.size() > PIECE || layout.align() > PIECE {
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

/// Which piece of the reserve memory is, if it is of that.
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
        // SAFETY: pieces that `take` gave.
        all.iter().for_each(|piece| unsafe { Memory.dealloc(*piece, layout) });
        assert!(take(Layout::from_size_align(PIECE + 1, 1).unwrap()).is_null());
        let again = take(layout);
        assert_eq!(again, all[0]);
        // SAFETY: a piece that `take` gave, which may grow to its end in place, and then on the heap.
        unsafe {
            assert_eq!(Memory.realloc(again, layout, PIECE), again);
            again.write(7);
            let piece = Layout::from_size_align(PIECE, 16).unwrap();
            let moved = Memory.realloc(again, piece, PIECE + 1);
            assert!(piece_of(moved).is_none() && moved.read() == 7);
            System.dealloc(moved, Layout::from_size_align(PIECE + 1, 16).unwrap());
            assert_eq!(take(layout), again);
            Memory.dealloc(again, layout);
        }
    }
}
