//! Sets of OS indexes as 64-bit words, wherever the words are stored.

use core::ops::Range;
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

    /// The 64 indexes from `first` on, as bits.
    #[inline]
    fn bits_from(&self, first: u32) -> u64 {
        let (word, bit) = (first as usize / 64, first % 64);
        match bit {
            0 => self.word(word),
            _ => (self.word(word) >> bit) | (self.word(word + 1) << (64 - bit)),
        }
    }

    /// The lowest index that is not below `index`.
    #[inline]
    fn next_from(&self, index: u32) -> Option<u32> {
        let place = index as usize / 64;
        let end = self.word_count();
        let in_word = |place: usize| u32::try_from(place).ok()?.checked_mul(64);
        let mut word = self.word(place) & (u64::MAX << (index % 64));
        let mut place = place;
        while word == 0 && place < end {
            place += 1;
            word = self.word(place);
        }
        (word != 0).then(|| Some(in_word(place)? + word.trailing_zeros())).flatten()
    }

    /// The highest index of a range.
    #[inline]
    fn last_within(&self, range: Range<u32>) -> Option<u32> {
        let kept = |place: u32| {
            let before = |end: u32| low_bits(end.saturating_sub(place * 64).into());
            self.word(place as usize) & before(range.end) & !before(range.start)
        };
        let places = range.start / 64..range.end.div_ceil(64);
        let place = places.rev().find(|place| kept(*place) != 0)?;
        Some(place * 64 + 63 - kept(place).leading_zeros())
    }

    /// The highest index, `None` for an empty or infinite set.
    #[inline]
    fn last(&self) -> Option<u32> {
        let place = (0..self.word_count()).rev().find(|place| self.word(*place) != 0)?;
        let first = u32::try_from(place).ok()?.checked_mul(64)?;
        (!self.is_infinite()).then(|| first + 63 - self.word(place).leading_zeros())
    }

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
    #[inline]
    fn word(&self, index: usize) -> u64 {
        Set::word(self, index)
    }

    #[inline]
    fn bits_from(&self, first: u32) -> u64 {
        Set::bits_from(self, first)
    }

    #[inline]
    fn next_from(&self, index: u32) -> Option<u32> {
        Set::next_from(self, index)
    }

    #[inline]
    fn last_within(&self, range: Range<u32>) -> Option<u32> {
        Set::last_within(self, range)
    }

    #[inline]
    fn last(&self) -> Option<u32> {
        Set::last(self)
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
