//! Ranges of indexes: added to a set and looked up in one, a word at a time.

use super::{INLINE_WORDS, Set};
use core::ops::{Range, RangeInclusive};
use smallvec::SmallVec;

impl Set {
    /// Adds every index of a range to the set. Counterpart: `hwloc_bitmap_set_range`.
    #[doc(alias = "hwloc_bitmap_set_range")]
    pub fn insert_range(&mut self, range: RangeInclusive<u32>) {
        let (first, last) = range.into_inner();
        if first > last {
            return;
        }
        let (first_word, last_word) = (first as usize / 64, last as usize / 64);
        let words = self.words.len().max(last_word + 1);
        self.words.resize(words, self.filler());
        let own = self.words.get_mut(first_word..).unwrap_or_default();
        for (place, word) in (first_word..=last_word).zip(own) {
            *word |= mask(place, first, last);
        }
        self.normalize();
    }

    /// Makes this the set of a range of indexes. The memory of the set is reused.
    ///
    /// ```
    /// use topobroker_layout::set::Set;
    /// let mut set: Set = [7].into_iter().collect();
    /// set.assign_range(62..66);
    /// assert_eq!(set.iter().collect::<Vec<_>>(), [62, 63, 64, 65]);
    /// ```
    pub fn assign_range(&mut self, range: Range<u32>) {
        // Fast path: without it, the cpuset of an object takes twice as long as hwloc's.
        let words = (range.end as usize).div_ceil(64);
        if range.is_empty() {
            self.clear();
        } else if self.has_room_for(words) {
            write_range(self.cleared(words), &range);
        } else {
            self.assign_far_range(&range);
        }
    }

    fn assign_far_range(&mut self, range: &Range<u32>) {
        self.infinite = false;
        self.words.resize((range.end as usize).div_ceil(64), 0);
        let words = self.words.as_mut_slice();
        words.get_mut(..range.start as usize / 64).unwrap_or_default().fill(0);
        write_range(words, range);
    }

    /// Makes this the set of a range of indexes and of the same range shifted up by `distance`,
    /// which must not be less than the length of the range. The memory of the set is reused.
    ///
    /// ```
    /// use topobroker_layout::set::Set;
    /// let mut set = Set::new();
    /// set.assign_twice(4..6, 96);
    /// assert_eq!(set.iter().collect::<Vec<_>>(), [4, 5, 100, 101]);
    /// ```
    #[inline]
    pub fn assign_twice(&mut self, range: Range<u32>, distance: u32) {
        if range.is_empty() {
            return self.clear();
        }
        let again = range.start + distance..range.end + distance;
        // Fast path: without it, the cpuset of an object takes 2.5 times as long as hwloc's.
        let words = (again.end as usize).div_ceil(64);
        if (range.end - 1) / 64 < again.start / 64 && self.has_room_for(words) {
            let words = self.cleared(words);
            write_range(words, &range);
            write_range(words, &again);
        } else {
            self.assign_ranges(&[range, again]);
        }
    }

    /// Makes this the set of several ranges of indexes. It is fastest if each range starts at or
    /// after the end of the one before it. The memory of the set is reused.
    ///
    /// ```
    /// use topobroker_layout::set::Set;
    /// let mut set = Set::new();
    /// set.assign_ranges(&[3..4, 62..66, 130..131]);
    /// assert_eq!(set.iter().collect::<Vec<_>>(), [3, 62, 63, 64, 65, 130]);
    /// ```
    pub fn assign_ranges(&mut self, ranges: &[Range<u32>]) {
        self.clear();
        for range in ranges.iter().rev().filter(|range| !range.is_empty()) {
            self.insert_range(range.start..=range.end - 1);
        }
    }

    /// Whether this number of words fits inline, and the set stores its words inline.
    #[inline]
    fn has_room_for(&self, words: usize) -> bool {
        words <= INLINE_WORDS && !self.words.spilled()
    }

    /// Makes all words of the set 0, changes their number and returns them. [`Set::has_room_for`]
    /// must hold. This writes the whole inline buffer, so that the previous number of words does
    /// not matter.
    #[inline]
    fn cleared(&mut self, words: usize) -> &mut [u64] {
        self.infinite = false;
        self.words = SmallVec::from_buf_and_len([0; INLINE_WORDS], words);
        &mut self.words
    }

    /// Adds every index from `first` on to the set.
    pub fn insert_from(&mut self, first: u32) {
        let word = first as usize / 64;
        let kept = (0..=word).map(|i| self.word(i)).collect::<SmallVec<_>>();
        let tail = u64::MAX << (first % 64);
        self.words = kept;
        self.infinite = true;
        if let Some(last) = self.words.last_mut() {
            *last |= tail;
        }
        self.normalize();
    }

    /// Removes every index from the set. The memory of the set is kept. Counterpart:
    /// `hwloc_bitmap_zero`.
    #[doc(alias = "hwloc_bitmap_zero")]
    pub fn clear(&mut self) {
        self.words.clear();
        self.infinite = false;
    }

    /// Whether the 64 indexes from `first` on are in the set, as bits.
    ///
    /// ```
    /// use topobroker_layout::set::Set;
    /// let set: Set = [60, 66].into_iter().collect();
    /// assert_eq!(set.bits_from(60), 0b100_0001);
    /// ```
    #[must_use]
    #[inline]
    pub fn bits_from(&self, first: u32) -> u64 {
        let (word, bit) = (first as usize / 64, first % 64);
        match bit {
            0 => self.word(word),
            _ => (self.word(word) >> bit) | (self.word(word + 1) << (64 - bit)),
        }
    }

    /// Whether every index of a range is in the set. It is true for an empty range.
    #[must_use]
    #[inline]
    pub fn contains_range(&self, range: Range<u32>) -> bool {
        words_of(range).all(|(place, mask)| self.word(place) & mask == mask)
    }

    /// Whether some index of a range is in the set.
    #[must_use]
    #[inline]
    pub fn intersects_range(&self, range: Range<u32>) -> bool {
        words_of(range).any(|(place, mask)| self.word(place) & mask != 0)
    }

    /// The highest index of a range that is in the set.
    #[must_use]
    #[inline]
    pub fn last_within(&self, range: Range<u32>) -> Option<u32> {
        if range.is_empty() {
            return None;
        }
        let (first, last) = (range.start, range.end - 1);
        // After the stored words, a finite set has no index and an infinite set has every index.
        let words = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let end = if self.infinite { last / 64 + 1 } else { words.min(last / 64 + 1) };
        let mut places = first / 64..end;
        while let Some(place) = places.next_back() {
            let word = self.word(place as usize) & mask(place as usize, first, last);
            if word != 0 {
                return Some(place * 64 + 63 - word.leading_zeros());
            }
        }
        None
    }
}

/// Writes a range that is not empty to `words`.
#[inline]
fn write_range(words: &mut [u64], range: &Range<u32>) {
    let from = u64::MAX << (range.start % 64);
    let to = u64::MAX >> (range.end.wrapping_neg() % 64);
    let (first, end) = (range.start as usize / 64, (range.end as usize).div_ceil(64));
    match words.get_mut(first..end) {
        Some([only]) => *only = from & to,
        Some([first, between @ .., last]) => {
            *first = from;
            between.fill(u64::MAX);
            *last = to;
        }
        _ => {}
    }
}

/// The words that a range is in, each with the mask of the range in it.
#[inline]
fn words_of(range: Range<u32>) -> impl Iterator<Item = (usize, u64)> {
    let (first, end) = (range.start as usize / 64, (range.end as usize).div_ceil(64));
    (first..end).map(move |place| (place, mask_of(place, &range)))
}

/// The mask of a range in the word at `place`, 0 if the range is empty.
#[inline]
fn mask_of(place: usize, range: &Range<u32>) -> u64 {
    if range.is_empty() { 0 } else { mask(place, range.start, range.end - 1) }
}

/// The mask of the bits from `first` to `last` in the word at `place`, which must not be outside
/// the words of these two bits.
#[inline]
fn mask(place: usize, first: u32, last: u32) -> u64 {
    let from = if place == first as usize / 64 { u64::MAX << (first % 64) } else { u64::MAX };
    let to = if place == last as usize / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
    from & to
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_range_of_a_set_is_what_its_indexes_say(
            words in proptest::collection::vec(any::<u64>(), 0..5),
            infinite: bool,
            first in prop_oneof![Just(0u32), Just(64), Just(128), 0u32..400],
            length in prop_oneof![Just(0u32), Just(64), Just(128), 0u32..150],
        ) {
            let set = Set::from_words(words.iter().map(|word| word | word >> 3 | word << 7), infinite);
            let range = first..first + length;
            let inside: Vec<u32> = range.clone().filter(|index| set.contains(*index)).collect();
            prop_assert_eq!(set.contains_range(range.clone()), inside.len() == range.len());
            prop_assert_eq!(set.intersects_range(range.clone()), !inside.is_empty());
            prop_assert_eq!(set.last_within(range.clone()), inside.last().copied());
            let mut only = set.clone();
            only.assign_range(range.clone());
            prop_assert_eq!(&only, &range.collect::<Set>());
            only.assign_range(first + 1..first);
            prop_assert!(only.is_empty());
            for bit in 0..64 {
                prop_assert_eq!((set.bits_from(first) >> bit) & 1 == 1, set.contains(first + bit));
            }
        }

        #[test]
        fn what_is_made_of_ranges_has_the_indexes_of_each(
            before in proptest::collection::vec(any::<u64>(), 0..20),
            ranges in proptest::collection::vec((0u32..200, 0u32..200), 0..9),
            distance in 0u32..1000,
            infinite: bool,
        ) {
            let mut end = 0;
            let ranges = ranges.into_iter().map(|(gap, length)| {
                let start = end + gap;
                end = start + length;
                start..end
            });
            let ranges: Vec<Range<u32>> = ranges.collect();
            let mut set = Set::from_words(before, infinite);
            set.assign_ranges(&ranges);
            prop_assert_eq!(&set, &ranges.iter().cloned().flatten().collect::<Set>());
            for range in ranges {
                let distance = distance.max(range.end - range.start);
                set.assign_twice(range.clone(), distance);
                let both = range.clone().chain(range.start + distance..range.end + distance);
                prop_assert_eq!(&set, &both.collect::<Set>());
            }
        }
    }
}
