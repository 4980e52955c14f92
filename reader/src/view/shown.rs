//! What a view shows, with the memory of the overlay that says so.

use crate::seen::Seen;
use crate::topology::Topology;
use std::mem::MaybeUninit;
use std::sync::Arc;
use topobroker_layout::OpenError;
use topobroker_layout::build::AlignedVec;
use topobroker_layout::overlay::{self, ArchivedOverlay};

/// What a view shows.
#[derive(Clone)]
pub(super) struct Shown<'a> {
    /// The topology that a part of is shown. Never refers to `own`, so it may be given away.
    pub(super) whole: Topology<'a>,
    /// Always there. Whoever is given a reference may take it for good as long as the call lasts; of what refers to
    /// `own`, that must not be said of the call that frees it.
    seen: MaybeUninit<Seen<'a>>,
    /// An overlay of its own; clones share it.
    own: Option<Arc<AlignedVec>>,
}

impl<'a> Shown<'a> {
    /// What a topology shows already.
    pub(super) fn same(topology: Topology<'a>) -> Self {
        Self::new(topology.whole(), topology.seen.part(), None)
    }

    /// What an overlay in a segment shows of a topology.
    pub(super) fn shared(whole: Topology<'a>, overlay: &'a ArchivedOverlay) -> Self {
        Self::new(whole, whole.seen.through(overlay), None)
    }

    /// What an overlay of its own shows of a topology.
    pub(super) fn owned(whole: Topology<'a>, bytes: AlignedVec) -> Result<Self, OpenError> {
        let overlay = std::ptr::from_ref(overlay::access(&bytes)?);
        // SAFETY: the overlay is in the heap memory of `bytes`, which does not move with it and is written by nobody.
        // It is freed with the last clone of what is made here, and only `topology` lets the reference out, for no
        // longer than one of these is borrowed.
        let overlay = unsafe { &*overlay };
        Ok(Self::new(whole, whole.seen.through(overlay), Some(Arc::new(bytes))))
    }

    fn new(whole: Topology<'a>, seen: Seen<'a>, own: Option<Arc<AlignedVec>>) -> Self {
        Self { whole, seen: MaybeUninit::new(seen), own }
    }

    /// The topology that is shown.
    pub(super) fn topology(&self) -> Topology<'_> {
        // SAFETY: `new` puts it there and nothing takes it.
        Topology::of(unsafe { self.seen.assume_init_ref() })
    }

    /// Bytes of an overlay of its own.
    pub(super) fn own_bytes(&self) -> usize {
        self.own.as_ref().map_or(0, |own| own.len())
    }
}
