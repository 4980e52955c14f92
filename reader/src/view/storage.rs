//! The index of a view, with the memory of its overlay.

use crate::index::Index;
use crate::topology::Topology;
use alloc::sync::Arc;
use core::mem::MaybeUninit;
use topobroker_layout::OpenError;
use topobroker_layout::encode::AlignedVec;
use topobroker_layout::overlay::{self, ArchivedOverlay};

/// The index of a view, and its overlay if the view owns it.
pub(super) struct Storage<'a> {
    /// The whole topology. It never borrows from `own`, so copies of it may outlive this value.
    pub(super) whole: Topology<'a>,
    /// Always initialised. `MaybeUninit` because this borrows from `own`: while this value is
    /// dropped, a plain reference would point to freed memory, which Rust does not allow even if
    /// it is not read.
    index: MaybeUninit<Index<'a>>,
    /// The overlay, if the view owns it; clones share it.
    own: Option<Arc<AlignedVec>>,
}

impl<'a> Storage<'a> {
    /// A view of all visible objects of a topology.
    pub(super) fn same(topology: Topology<'a>) -> Self {
        Self::new(topology.whole(), topology.index.of_same(), None)
    }

    /// A view through an overlay in a segment.
    pub(super) fn shared(whole: Topology<'a>, overlay: &'a ArchivedOverlay) -> Self {
        Self::new(whole, whole.index.of_view(overlay), None)
    }

    /// A view through an overlay that it owns.
    pub(super) fn owned(whole: Topology<'a>, bytes: AlignedVec) -> Result<Self, OpenError> {
        let overlay = core::ptr::from_ref(overlay::access(&bytes)?);
        // SAFETY: the overlay is in the heap memory of `bytes`. No code writes that memory, and it
        // stays where it is if `bytes` moves. It is freed with the last clone of the storage that
        // is made here. Only `topology` lets the reference out, and only for as long as it borrows
        // a clone.
        let overlay = unsafe { &*overlay };
        Ok(Self::new(whole, whole.index.of_view(overlay), Some(Arc::new(bytes))))
    }

    fn new(whole: Topology<'a>, index: Index<'a>, own: Option<Arc<AlignedVec>>) -> Self {
        Self { whole, index: MaybeUninit::new(index), own }
    }

    /// The topology of the visible objects.
    pub(super) fn topology(&self) -> Topology<'_> {
        Topology::of(self.index())
    }

    fn index(&self) -> &Index<'a> {
        // SAFETY: `new` initialises `index`, and nothing takes the value out.
        unsafe { self.index.assume_init_ref() }
    }

    /// Length in bytes of the overlay, if the view owns it; otherwise 0.
    pub(super) fn own_bytes(&self) -> usize {
        self.own.as_ref().map_or(0, |own| own.len())
    }
}

impl Clone for Storage<'_> {
    fn clone(&self) -> Self {
        Self::new(self.whole, self.index().clone(), self.own.clone())
    }
}
