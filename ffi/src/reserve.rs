//! A reserve of memory: a call that finds the heap used up still ends with a status and a message.
//!
//! Rust ends the process if an allocation fails. The allocations of an adoption are few and small,
//! so a reserve inside the library covers them. A page of it is touched only if it is needed.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};

/// The heap of the C library.
struct Heap;

/// Alignment of memory of `malloc` that is at least as large. Smaller pieces may have less.
const MALLOC_ALIGN: usize = 2 * size_of::<usize>();

/// Whether memory of `malloc` is aligned as it must be.
fn is_for_malloc(size: usize, align: usize) -> bool {
    align <= MALLOC_ALIGN && align <= size
}

// SAFETY: `malloc` and `posix_memalign` return NULL, or memory of that size and alignment that
// no other code has; `realloc` and `free` take memory of both.
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
            // SAFETY: both have the bytes that are copied, and no other code has the new memory.
            // The caller gives up the old memory, which `alloc` returned for `layout`.
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

/// Pieces of one size, each free or in use.
#[repr(C, align(16))]
struct Pieces<const SIZE: usize, const COUNT: usize> {
    memory: UnsafeCell<[[u8; SIZE]; COUNT]>,
    taken: [AtomicBool; COUNT],
}

// SAFETY: only the one who set a piece's flag in `taken` uses the piece, and the Acquire and
// Release on the flag order the uses of one owner before those of the next.
unsafe impl<const SIZE: usize, const COUNT: usize> Sync for Pieces<SIZE, COUNT> {}

// In a section of their own, so that the small values of the library are together in one page.
/// Texts, of which 32 threads at once have four each.
#[unsafe(link_section = ".bss.reserve")]
static SMALL: Pieces<256, 128> = Pieces::new();
/// Room for the longest path.
#[unsafe(link_section = ".bss.reserve")]
static LARGE: Pieces<4096, 16> = Pieces::new();

impl<const SIZE: usize, const COUNT: usize> Pieces<SIZE, COUNT> {
    const fn new() -> Self {
        const { assert!(SIZE.is_multiple_of(16), "each piece is aligned as the first one") };
        let taken = [const { AtomicBool::new(false) }; COUNT];
        Self { memory: UnsafeCell::new([[0; SIZE]; COUNT]), taken }
    }

    /// Takes a free piece; `None` if there is none, or if a piece is too small.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        if layout.size() > SIZE || layout.align() > align_of::<Self>() {
            return None;
        }
        let piece = self.taken.iter().position(|taken| !taken.swap(true, Ordering::Acquire))?;
        Some(self.memory.get().cast::<u8>().wrapping_add(piece * SIZE))
    }

    /// The flag of the piece at `memory`, and its size; `None` if it is elsewhere.
    fn find(&self, memory: *mut u8) -> Option<(&AtomicBool, usize)> {
        let offset = memory.addr().checked_sub(self.memory.get().addr())?;
        Some((self.taken.get(offset / SIZE)?, SIZE))
    }
}

/// Takes a piece of the reserve. Returns NULL if none is left or if a piece is too small.
#[cold]
fn take(layout: Layout) -> *mut u8 {
    SMALL.take(layout).or_else(|| LARGE.take(layout)).unwrap_or(null_mut())
}

/// The flag of the piece of the reserve at `memory`, and its size; `None` if it is elsewhere.
fn piece_of(memory: *mut u8) -> Option<(&'static AtomicBool, usize)> {
    SMALL.find(memory).or_else(|| LARGE.find(memory))
}

// Not inlined, because these few lines would be in 400 functions: 5 % of the thin library. SAFETY:
// memory of `Heap` is passed on unchanged and goes back to `Heap` alone. A piece of the reserve is
// aligned as `Pieces`, serves only layouts that need no more than its size, has one owner at a
// time, and never goes to `Heap`.
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
            Some((taken, _)) => taken.store(false, Ordering::Release),
            // SAFETY: `memory` is not in the reserve, so `Heap` allocated it for this layout.
            None => unsafe { Heap.dealloc(memory, layout) },
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if let Some((_, room)) = piece_of(memory) {
            return match size <= room {
                true => memory,
                // SAFETY: `memory` is in the reserve, so it is a piece that was given for `layout`.
                false => unsafe { self.leave_piece(memory, layout, size) },
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
    /// Moves the contents of a piece of the reserve to the heap, which may have memory again, or to
    /// a larger piece. Returns NULL if there is neither.
    ///
    /// # Safety
    ///
    /// `memory` is a piece that was given for `layout`, and `size` is larger than the piece.
    unsafe fn leave_piece(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(larger) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        // SAFETY: the size of `larger` is not 0, because it is larger than a piece.
        let moved = unsafe { self.alloc(larger) };
        if !moved.is_null() {
            // SAFETY: both have at least `layout.size()` bytes. They do not overlap, because the
            // new memory was free. `memory` was given for `layout`, and it is no longer used.
            unsafe {
                memory.copy_to_nonoverlapping(moved, layout.size());
                self.dealloc(memory, layout);
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_of_the_reserve_is_given_once_and_again_when_it_is_back() {
        let layout = |size| Layout::from_size_align(size, 16).unwrap();
        let pieces = SMALL.taken.len() + LARGE.taken.len();
        let all: Vec<*mut u8> = (0..pieces).map(|_| take(layout(100))).collect();
        let places: std::collections::BTreeSet<usize> = all.iter().map(|it| it.addr()).collect();
        assert!(places.len() == pieces && all.iter().all(|piece| piece_of(*piece).is_some()));
        assert!(take(layout(100)).is_null());
        // SAFETY: `take` gave each piece for this layout, and each is freed once.
        all.iter().for_each(|piece| unsafe { Memory.dealloc(*piece, layout(100)) });
        assert!(take(layout(4097)).is_null());
        let again = take(layout(100));
        assert_eq!(again, all[0]);
        // SAFETY: `take` gave the piece for 100 bytes. Each layout is the one of the last call for
        // that memory, and each piece of memory is freed once.
        unsafe {
            assert_eq!(Memory.realloc(again, layout(100), 256), again);
            again.write(7);
            let moved = Memory.realloc(again, layout(256), 257);
            assert!(piece_of(moved).is_none() && moved.read() == 7);
            Heap.dealloc(moved, layout(257));
            let large = take(layout(257));
            assert_eq!(
                (take(layout(100)), Memory.realloc(large, layout(257), 4096)),
                (again, large)
            );
            Memory.dealloc(large, layout(4096));
            Memory.dealloc(again, layout(100));
        }
    }
}
