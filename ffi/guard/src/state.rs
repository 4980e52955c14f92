//! What the guard knows of this process: segments, the handles on them, and topologies that are not
//! loaded yet.

use crate::handle::{Handle, copy_of_master, free_copy};
use crate::hwloc::{Hwloc, Topology};
use crate::lock::{Lock, Locked, hold_during_forks};
use crate::not_loaded::NotLoaded;
use crate::segment::{Adopt, Mapped, Segments, Where};
use crate::texts::OwnTexts;
use alloc::vec::Vec;
use core::ffi::c_void;

pub(crate) struct State {
    pub(crate) segments: Segments,
    /// Topologies of this process that are in a segment.
    pub(crate) handles: Vec<Handle>,
    /// Topologies that are not loaded yet, and what programs have said of them.
    pub(crate) sources: Vec<NotLoaded>,
    pub(crate) texts: OwnTexts,
    /// Topologies that were handles, and are copies that hwloc has made of some with kinds of CPUs.
    pub(crate) copies: Vec<Topology>,
}

// SAFETY: hwloc's topologies may be used by any thread, one at a time, and the lock sees to that.
unsafe impl Send for State {}

static STATE: Lock<State> = Lock::new(State {
    segments: Segments::NONE,
    handles: Vec::new(),
    sources: Vec::new(),
    texts: OwnTexts::NONE,
    copies: Vec::new(),
});

/// The state, for this thread alone until it is dropped. No function of hwloc that this library
/// replaces may be called meanwhile, except by hwloc itself.
pub(crate) fn state() -> Locked<'static, State> {
    STATE.lock()
}

/// Entry that makes the dynamic loader call `at_start` before the program has threads: a thread
/// that took the lock first, and a fork meanwhile, would leave the child with a lock that is never
/// released.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    hold_during_forks(before_fork, after_fork);
}

unsafe extern "C" fn before_fork() {
    STATE.acquire();
}

unsafe extern "C" fn after_fork() {
    // SAFETY: `before_fork` has acquired it, in this thread or in the one that this is the child
    // of.
    unsafe { STATE.release() };
}

impl State {
    /// The handle at an address.
    pub(crate) fn handle(&self, topology: Topology) -> Option<Handle> {
        self.handles.iter().find(|handle| handle.topology == topology).copied()
    }

    /// What a program has said of a topology. `None` if it is loaded, or the guard does not know
    /// it.
    pub(crate) fn source(&self, topology: Topology) -> Option<NotLoaded> {
        self.sources.iter().find(|source| source.topology == topology).copied()
    }

    /// The segment in a file: see [`Segments::map`].
    ///
    /// # Safety
    ///
    /// As for [`Segments::map`].
    pub(crate) unsafe fn map(
        &mut self,
        hwloc: &Hwloc,
        adopt: Adopt,
        place: Where,
    ) -> Option<Mapped> {
        let has_handle = |number| has_handle(&self.handles, number);
        // SAFETY: the caller vouches for it.
        unsafe { self.segments.map(hwloc, adopt, place, has_handle) }
    }

    /// Gives up addresses that a segment needs, where no topology is.
    pub(crate) fn make_room(&mut self, address: *mut c_void, length: usize) {
        let has_handle = |number| has_handle(&self.handles, number);
        self.segments.make_room(address, length, has_handle);
    }

    /// Another handle on a segment; `None` if there is no memory for it.
    pub(crate) fn new_handle(&mut self, hwloc: &Hwloc, segment: usize) -> Option<Topology> {
        let topology = copy_of_master(hwloc, self.segments.get(segment)?)?;
        self.forget(topology);
        self.handles.push(Handle { topology, segment, is_loaded: false });
        Some(topology)
    }

    /// Ends a handle and frees its memory. `topology` is where its structure is now.
    pub(crate) fn end_handle(&mut self, hwloc: &Hwloc, handle: Handle, topology: Topology) {
        self.handles.retain(|it| it.topology != handle.topology);
        free_copy(hwloc, topology);
        if self.is_in_use(handle.segment) {
            return;
        }
        self.texts.free(&self.segments, handle.segment);
        if let Some(segment) = self.segments.get(handle.segment) {
            segment.rest();
        }
    }

    /// Forgets a topology. An address that hwloc gives out is that of no earlier topology, whoever
    /// has destroyed that.
    pub(crate) fn forget(&mut self, topology: Topology) {
        self.handles.retain(|handle| handle.topology != topology);
        self.sources.retain(|source| source.topology != topology);
        self.copies.retain(|copy| *copy != topology);
    }

    /// Whether a program may have a pointer into a segment.
    pub(crate) fn is_in_use(&self, segment: usize) -> bool {
        let is_pinned = self.segments.get(segment).is_some_and(|it| it.is_pinned);
        is_pinned || has_handle(&self.handles, segment)
    }
}

/// Whether a handle is on a segment.
fn has_handle(handles: &[Handle], segment: usize) -> bool {
    handles.iter().any(|handle| handle.segment == segment)
}
