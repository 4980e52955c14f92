//! No query takes memory from the heap, on machines of up to 1024 PUs; those that return sets of
//! larger machines do, and have a form that fills the caller's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use topobroker_layout::build::to_bytes;
use topobroker_reader::{
    Initiator, LocalNumaNodes, MemoryAttribute, Object, ObjectType, Set, Topology, TypeName,
};
use topobroker_tests::synthetic;

/// The system's allocator, which counts for each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all is the system allocator's; counting takes no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often memory was asked for.
fn allocations(run: impl FnOnce()) -> usize {
    let before = COUNT.with(Cell::get);
    run();
    COUNT.with(Cell::get) - before
}
