//! A set of the archive, read in place.

use super::words::Words;
use topobroker_layout::overlay::ArchivedVisibleSet;
use topobroker_layout::stored_set::StoredWords;

/// A set of the archive, or the part of it that an overlay leaves visible.
#[derive(Clone, Copy)]
pub(crate) struct StoredSet<'a> {
    stored: StoredWords<'a>,
    /// The visible OS indexes; `None` if the whole topology is visible.
    visible: Option<&'a ArchivedVisibleSet>,
}

impl<'a> StoredSet<'a> {
    pub(crate) fn new(stored: StoredWords<'a>, visible: Option<&'a ArchivedVisibleSet>) -> Self {
        StoredSet { stored, visible }
    }
}

impl Words for StoredSet<'_> {
    #[inline]
    fn word(&self, index: usize) -> u64 {
        self.stored.word(index) & self.visible.map_or(u64::MAX, |visible| visible.word(index))
    }

    fn word_count(&self) -> usize {
        match self.visible {
            Some(visible) if self.stored.is_infinite() => {
                self.stored.word_count().max(visible.word_count())
            }
            _ => self.stored.word_count(),
        }
    }

    fn is_infinite(&self) -> bool {
        self.stored.is_infinite() && self.visible.is_none_or(Words::is_infinite)
    }
}
