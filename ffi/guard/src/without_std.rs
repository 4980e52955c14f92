//! What a library without the standard library must bring: memory, and what to do if it panics.
//! No input makes the guard panic; a panic would be a mistake in it.

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;
use core::ptr::null_mut;

/// The heap of the C library.
struct Heap;

/// Alignment of memory of `malloc` that is at least as large.
const MALLOC_ALIGN: usize = 2 * size_of::<usize>();

// SAFETY: `malloc` and `realloc` return NULL, or memory of that size and alignment that no other
// has. Nothing in this library needs a larger alignment, and such a layout gets NULL.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > MALLOC_ALIGN {
            return null_mut();
        }
        // SAFETY: `malloc` takes any size.
        unsafe { libc::malloc(layout.size()) }.cast()
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: `alloc` or `realloc` returned this memory, and the caller gives it up.
        unsafe { libc::free(memory.cast()) };
    }

    unsafe fn realloc(&self, memory: *mut u8, _: Layout, size: usize) -> *mut u8 {
        // SAFETY: `alloc` or `realloc` returned this memory, and the caller gives it up.
        unsafe { libc::realloc(memory.cast(), size) }.cast()
    }
}

#[global_allocator]
static HEAP: Heap = Heap;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    crate::say::line(format_args!("fault: {info}"));
    // SAFETY: `abort` may be called at any time.
    unsafe { libc::abort() }
}

/// An instruction that ends the process.
#[cfg(target_arch = "x86_64")]
macro_rules! trap {
    () => {
        "ud2"
    };
}

/// An instruction that ends the process: 0 is an illegal one on arm64, POWER, RISC-V and s390x.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! trap {
    () => {
        ".long 0"
    };
}

// The library that comes with the compiler is built to unwind and names these two functions. They
// are never called, because with `panic = "abort"` nothing unwinds. They must be hidden: this
// library comes before all others, whose exceptions need the real ones.
core::arch::global_asm!(
    ".globl rust_eh_personality",
    ".hidden rust_eh_personality",
    "rust_eh_personality:",
    ".globl _Unwind_Resume",
    ".hidden _Unwind_Resume",
    "_Unwind_Resume:",
    trap!(),
);
