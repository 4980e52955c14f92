//! Whether parents and children can be looked up in the tree of the archive.

use core::sync::atomic::{AtomicU8, Ordering};

/// Where parents and children are found. The tree of an archive whose publisher has checked it is
/// checked once more when it is walked for the first time, because a walk might not end in what is
/// not a tree.
pub(super) struct Walks(AtomicU8);

const IN_TREE: u8 = 0;
const ELSEWHERE: u8 = 1;
const UNCHECKED: u8 = 2;

impl Walks {
    /// In the tree of the archive, which is sound.
    pub(super) fn in_tree() -> Self {
        Self(AtomicU8::new(IN_TREE))
    }

    /// Not in the tree: a view whose objects have moved has tables of its own.
    pub(super) fn elsewhere() -> Self {
        Self(AtomicU8::new(ELSEWHERE))
    }

    /// In the tree of the archive, if it is sound.
    pub(super) fn unchecked() -> Self {
        Self(AtomicU8::new(UNCHECKED))
    }

    /// Whether walks are known to be in the tree.
    #[inline]
    pub(super) fn are_in_tree(&self) -> bool {
        self.0.load(Ordering::Relaxed) == IN_TREE
    }

    /// [`Walks::are_in_tree`], after a check of the tree if there was none before.
    #[cold]
    pub(super) fn are_in_sound_tree(&self, is_sound: impl FnOnce() -> bool) -> bool {
        // Threads that check at the same time find the same.
        if self.0.load(Ordering::Relaxed) == UNCHECKED {
            self.0.store(if is_sound() { IN_TREE } else { ELSEWHERE }, Ordering::Relaxed);
        }
        self.are_in_tree()
    }
}

impl Clone for Walks {
    fn clone(&self) -> Self {
        Self(AtomicU8::new(self.0.load(Ordering::Relaxed)))
    }
}
