//! Sets of OS indexes as 64-bit words, wherever the words are stored.

use topobroker_layout::overlay::ArchivedVisibleSet;
use topobroker_layout::set::Set;

/// A set of OS indexes as words: a set of the archive, of an object, or of the caller.
pub(crate) trait Words {
    /// Indexes `64 * index` to `64 * index + 63`, as bits.
    fn word(&self, index: usize) -> u64;

    /// Number of words before the rest of the set. The bits of the rest are all 0 or all 1.
    fn word_count(&self) -> usize;

    /// Whether the bits of the rest are all 1, so that the set has every index there.
    fn is_infinite(&self) -> bool;

    fn copy_to(&self, set: &mut Set) {
        set.assign((0..self.word_count()).map(|index| self.word(index)), self.is_infinite());
    }

    fn to_set(&self) -> Set {
        let mut set = Set::new();
        self.copy_to(&mut set);
        set
    }

    fn is_empty(&self) -> bool {
        !self.is_infinite() && (0..self.word_count()).all(|index| self.word(index) == 0)
    }

    fn is_included_in(&self, other: &impl Words) -> bool {
        // The rest of a finite set is empty, so the words of `other` matter only if this set is
        // infinite.
        let others = if self.is_infinite() { other.word_count() } else { 0 };
        let count = self.word_count().max(others);
        (other.is_infinite() || !self.is_infinite())
            && (0..count).all(|index| self.word(index) & !other.word(index) == 0)
    }

    fn intersects(&self, other: &impl Words) -> bool {
        let count = self.word_count().max(other.word_count());
        (self.is_infinite() && other.is_infinite())
            || (0..count).any(|index| self.word(index) & other.word(index) != 0)
    }

    fn equals(&self, other: &impl Words) -> bool {
        let count = self.word_count().max(other.word_count());
        self.is_infinite() == other.is_infinite()
            && (0..count).all(|index| self.word(index) == other.word(index))
    }
}

impl Words for ArchivedVisibleSet {
    #[inline]
    fn word(&self, index: usize) -> u64 {
        let rest = if Words::is_infinite(self) { u64::MAX } else { 0 };
        self.words.as_slice().get(index).map_or(rest, |word| word.to_native())
    }

    fn word_count(&self) -> usize {
        self.words.len()
    }

    #[inline]
    fn is_infinite(&self) -> bool {
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

    fn is_infinite(&self) -> bool {
        Set::is_infinite(self)
    }
}

/// Mask of the low `count` bits; of all 64 bits if `count` is greater.
#[inline]
pub(crate) fn low_bits(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}
