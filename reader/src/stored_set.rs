//! A set of the archive, compared in place.

use topobroker_layout::archive::ArchivedSetTable;
use topobroker_layout::overlay::ArchivedKept;
use topobroker_layout::set::Set;

/// A stored set.
#[derive(Clone, Copy)]
pub(crate) struct StoredSet<'a> {
    sets: &'a ArchivedSetTable,
    /// First word that is stored, by its place in the set.
    first: usize,
    /// Place of that word among those of all sets.
    start: usize,
    /// First word behind the stored ones, by its place in the set.
    end: usize,
    infinite: bool,
    /// What is left of it.
    kept: Option<&'a ArchivedKept>,
}

impl<'a> StoredSet<'a> {
    /// The set of a row of the table, of which `kept` is left.
    pub(crate) fn new(
        sets: &'a ArchivedSetTable,
        row: u32,
        kept: Option<&'a ArchivedKept>,
    ) -> Self {
        let row = row as usize;
        let first = sets.first_word.get_u32(row) as usize;
        let start = sets.start.get_u32(row) as usize;
        let end = first + (sets.start.get_u32(row + 1) as usize).saturating_sub(start);
        StoredSet { sets, first, start, end, infinite: sets.infinite.get(row) != 0, kept }
    }

    #[inline]
    fn stored_word(&self, index: usize) -> u64 {
        match index.checked_sub(self.first) {
            None => 0,
            Some(place) if index < self.end => self.sets.words.get(self.start + place),
            Some(_) if self.infinite => u64::MAX,
            Some(_) => 0,
        }
    }
}

/// A set of OS indexes as words: one of the archive, one of an object, one of the caller's.
pub(crate) trait Words {
    /// The indexes from `64 * index` on, as bits.
    fn word(&self, index: usize) -> u64;

    /// Number of words before those that are all alike.
    fn word_count(&self) -> usize;

    /// Whether every index behind those words is in the set.
    fn is_endless(&self) -> bool;

    fn copy_to(&self, set: &mut Set) {
        set.assign((0..self.word_count()).map(|index| self.word(index)), self.is_endless());
    }

    fn to_set(&self) -> Set {
        let mut set = Set::new();
        self.copy_to(&mut set);
        set
    }

    fn is_within(&self, other: &impl Words) -> bool {
        // Behind the words of a set that ends there is nothing to look for.
        let others = if self.is_endless() { other.word_count() } else { 0 };
        let count = self.word_count().max(others);
        (other.is_endless() || !self.is_endless())
            && (0..count).all(|index| self.word(index) & !other.word(index) == 0)
    }

    fn meets(&self, other: &impl Words) -> bool {
        let count = self.word_count().max(other.word_count());
        (self.is_endless() && other.is_endless())
            || (0..count).any(|index| self.word(index) & other.word(index) != 0)
    }

    fn is_same_as(&self, other: &impl Words) -> bool {
        let count = self.word_count().max(other.word_count());
        self.is_endless() == other.is_endless()
            && (0..count).all(|index| self.word(index) == other.word(index))
    }
}

impl Words for StoredSet<'_> {
    #[inline]
    fn word(&self, index: usize) -> u64 {
        self.stored_word(index) & self.kept.map_or(u64::MAX, |kept| kept.word(index))
    }

    fn word_count(&self) -> usize {
        match self.kept {
            Some(kept) if self.infinite => self.end.max(kept.word_count()),
            _ => self.end,
        }
    }

    fn is_endless(&self) -> bool {
        self.infinite && self.kept.is_none_or(Words::is_endless)
    }
}

impl Words for ArchivedKept {
    #[inline]
    fn word(&self, index: usize) -> u64 {
        let rest = if self.is_endless() { u64::MAX } else { 0 };
        self.words.as_slice().get(index).map_or(rest, |word| word.to_native())
    }

    fn word_count(&self) -> usize {
        self.words.len()
    }

    #[inline]
    fn is_endless(&self) -> bool {
        self.infinite.to_native() != 0
    }
}

impl Words for Set {
    fn word(&self, index: usize) -> u64 {
        Set::word(self, index)
    }

    fn word_count(&self) -> usize {
        self.words().len()
    }

    fn is_endless(&self) -> bool {
        self.is_infinite()
    }
}

/// The bits below one of 64.
#[inline]
pub(crate) fn below(bit: u64) -> u64 {
    if bit >= 64 { u64::MAX } else { (1 << bit) - 1 }
}
