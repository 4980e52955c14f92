//! A set of the archive's table, read in place.

use crate::archive::{ArchivedSetTable, MAX_SET_WORDS};

/// One set of the table: zero words, then the stored words. After these every index is in the set
/// if it is infinite, otherwise none is.
#[derive(Clone, Copy)]
pub struct StoredWords<'a> {
    sets: &'a ArchivedSetTable,
    /// Number of zero words before the stored words.
    first: usize,
    /// Position of the first stored word in the table.
    start: usize,
    /// Number of words up to and including the last stored one.
    end: usize,
    infinite: bool,
}

impl<'a> StoredWords<'a> {
    /// The set in a row of the table.
    #[must_use]
    pub fn new(sets: &'a ArchivedSetTable, row: u32) -> Self {
        let row = row as usize;
        let first = sets.first_word.get_u32(row) as usize;
        let start = sets.start.get_u32(row) as usize;
        let stored = (sets.start.get_u32(row + 1) as usize).saturating_sub(start);
        // An archive that was certified and is not sound may say more.
        let first = first.min(MAX_SET_WORDS);
        let end = first + stored.min(MAX_SET_WORDS - first);
        Self { sets, first, start, end, infinite: sets.infinite.get(row) != 0 }
    }

    /// Whether the indexes `64 * index` to `64 * index + 63` are in the set, as bits.
    #[must_use]
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        match index.checked_sub(self.first) {
            None => 0,
            Some(place) if index < self.end => self.sets.words.get(self.start + place),
            Some(_) if self.infinite => u64::MAX,
            Some(_) => 0,
        }
    }

    /// Number of zero words at the start.
    #[must_use]
    pub fn zero_words(&self) -> usize {
        self.first
    }

    /// Number of words up to and including the last stored one.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.end
    }

    /// Whether every index after the stored words is in the set.
    #[must_use]
    pub fn is_infinite(&self) -> bool {
        self.infinite
    }
}
