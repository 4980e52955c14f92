//! Sets of OS indexes: CPU sets and node sets.

mod combine;
mod ranges;
mod text;

pub use text::{Format, ParseSetError};

use smallvec::SmallVec;

/// Words held without the heap: enough for 1024 PUs.
const INLINE_WORDS: usize = 16;

/// A set of OS indexes, possibly with all indexes from some point on. Counterpart:
/// `hwloc_bitmap_t`, `hwloc_cpuset_t`, `hwloc_nodeset_t`.
///
/// Kept in normal form (no trailing word that the infinite part already says), so that equality
/// of sets is equality of values. Sets below index 1024 take no heap.
///
/// `Display` prints hwloc's mask format, as `hwloc_bitmap_snprintf` does.
///
/// ```
/// use topobroker_layout::set::Set;
/// let set: Set = [0, 1, 35].into_iter().collect();
/// assert_eq!(set.to_string(), "0x00000008,0x00000003");
/// assert_eq!(set.weight(), Some(3));
/// assert!(set.contains(35) && !set.contains(2));
/// ```
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Set {
    words: SmallVec<[u64; INLINE_WORDS]>,
    infinite: bool,
}

impl Set {
    /// The empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The set whose bit `64 * i + b` is bit `b` of word `i`, and every bit past the words is
    /// `infinite`.
    #[must_use]
    pub fn from_words(words: impl IntoIterator<Item = u64>, infinite: bool) -> Self {
        let mut set = Self::new();
        set.assign(words, infinite);
        set
    }

    /// Makes this the set of [`Set::from_words`], and keeps its memory.
    pub fn assign(&mut self, words: impl IntoIterator<Item = u64>, infinite: bool) {
        self.words.clear();
        self.words.extend(words);
        self.infinite = infinite;
        self.normalize();
    }

    /// The words of the set, low indexes first, without those that [`Set::is_infinite`] tells.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether every index past the words is in the set.
    #[must_use]
    pub fn is_infinite(&self) -> bool {
        self.infinite
    }

    /// Whether nothing is in the set. Counterpart: `hwloc_bitmap_iszero`.
    #[doc(alias = "hwloc_bitmap_iszero")]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && !self.infinite
    }

    /// Puts `index` into the set. Counterpart: `hwloc_bitmap_set`.
    #[doc(alias = "hwloc_bitmap_set")]
    #[inline]
    pub fn insert(&mut self, index: u32) {
        let (place, bit) = (index as usize / 64, 1 << (index % 64));
        match self.words.get_mut(place) {
            Some(word) => {
                *word |= bit;
                self.normalize_if_infinite();
            }
            None if self.infinite => {}
            None => self.push(place, bit),
        }
    }

    /// Puts a word behind all that a finite set has.
    #[inline(never)]
    fn push(&mut self, place: usize, word: u64) {
        if let Some(missing) = place.checked_sub(self.words.len()) {
            self.words.reserve(missing + 1);
            self.resize(place);
        }
        self.words.push(word);
    }

    /// Whether `index` is in the set. Counterpart: `hwloc_bitmap_isset`.
    #[doc(alias = "hwloc_bitmap_isset")]
    #[must_use]
    #[inline]
    pub fn contains(&self, index: u32) -> bool {
        (self.word(index as usize / 64) >> (index % 64)) & 1 == 1
    }

    /// Number of indexes, `None` of an infinite set. Counterpart: `hwloc_bitmap_weight`.
    #[doc(alias = "hwloc_bitmap_weight")]
    #[must_use]
    #[inline]
    pub fn weight(&self) -> Option<u32> {
        (!self.infinite).then(|| self.words.iter().map(|word| word.count_ones()).sum())
    }

    /// Whether every index of this set is in `other`. Counterpart: `hwloc_bitmap_isincluded`.
    #[doc(alias = "hwloc_bitmap_isincluded")]
    #[must_use]
    pub fn is_included_in(&self, other: &Self) -> bool {
        let common = self.words.len().min(other.words.len());
        let (own, own_rest) = self.words.split_at_checked(common).unwrap_or_default();
        let (all, other_rest) = other.words.split_at_checked(common).unwrap_or_default();
        // To the end in any case, so that the compiler takes several words at once.
        own.iter().zip(all).fold(0, |missing, (own, all)| missing | (own & !all)) == 0
            && (other.infinite || (!self.infinite && own_rest.is_empty()))
            && (!self.infinite || other_rest.iter().all(|word| *word == u64::MAX))
    }

    /// Takes `index` out of the set. Counterpart: `hwloc_bitmap_clr`.
    #[doc(alias = "hwloc_bitmap_clr")]
    pub fn remove(&mut self, index: u32) {
        let word = index as usize / 64;
        if word >= self.words.len() {
            if !self.infinite {
                return;
            }
            self.words.resize(word + 1, u64::MAX);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word &= !(1 << (index % 64));
        }
        self.normalize();
    }

    /// Whether some index is in both sets. Counterpart: `hwloc_bitmap_intersects`.
    #[doc(alias = "hwloc_bitmap_intersects")]
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        let length = self.words.len().max(other.words.len());
        (self.infinite && other.infinite) || (0..length).any(|i| self.word(i) & other.word(i) != 0)
    }

    /// The lowest index. Counterpart: `hwloc_bitmap_first`.
    #[doc(alias = "hwloc_bitmap_first")]
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<u32> {
        self.next_from(0)
    }

    /// The highest index, `None` of an empty or infinite set. Counterpart: `hwloc_bitmap_last`.
    #[doc(alias = "hwloc_bitmap_last")]
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        let place = self.words.iter().rposition(|word| *word != 0)?;
        let word = u32::try_from(place).ok()?;
        (!self.infinite).then(|| word * 64 + 63 - self.word(place).leading_zeros())
    }

    /// The lowest index behind `index`. Counterpart: `hwloc_bitmap_next`.
    #[doc(alias = "hwloc_bitmap_next")]
    #[must_use]
    pub fn next_after(&self, index: u32) -> Option<u32> {
        self.next_from(index.checked_add(1)?)
    }

    /// The lowest index from `index` on.
    #[must_use]
    #[inline]
    pub fn next_from(&self, index: u32) -> Option<u32> {
        let mut rest = self.words.get(index as usize / 64..).unwrap_or_default().iter();
        let mut next = index & !63;
        let mut word = match rest.next() {
            Some(word) => word & (u64::MAX << (index % 64)),
            None => return self.infinite.then_some(index),
        };
        while word == 0 {
            next = next.checked_add(64)?;
            match rest.next() {
                Some(more) => word = *more,
                None => return self.infinite.then_some(next),
            }
        }
        Some(next + word.trailing_zeros())
    }

    /// The set of its lowest index alone: what a thread is bound to. Counterpart:
    /// `hwloc_bitmap_singlify`.
    #[doc(alias = "hwloc_bitmap_singlify")]
    #[must_use]
    pub fn singlify(&self) -> Self {
        self.first().into_iter().collect()
    }

    /// The indexes in ascending order; of an infinite set, those within its words.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.words).flat_map(|(word, &bits)| {
            let mut rest = bits;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(word * 64 + bit)
            })
        })
    }

    /// The indexes from `64 * index` on, as bits.
    #[must_use]
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(self.filler())
    }

    /// Leaves of the words of a finite set the bits that `word` says, by the place of the word.
    pub fn mask(&mut self, word: impl Fn(usize) -> u64) {
        for (index, own) in self.words.iter_mut().enumerate() {
            *own &= word(index);
        }
        self.normalize();
    }

    /// Has so many words, new ones 0.
    #[inline]
    fn resize(&mut self, words: usize) {
        if self.words.len() != words {
            self.words.resize(words, 0);
        }
    }

    /// What every word behind those that are kept is.
    #[inline]
    fn filler(&self) -> u64 {
        if self.infinite { u64::MAX } else { 0 }
    }

    fn normalize(&mut self) {
        let filler = self.filler();
        let last = self.words.iter().rposition(|word| *word != filler);
        self.words.truncate(last.map_or(0, |last| last + 1));
    }

    /// What came in cannot have emptied the last word.
    #[inline]
    fn normalize_if_infinite(&mut self) {
        if self.infinite {
            self.normalize();
        }
    }
}

/// Counterparts: `hwloc_bitmap_dup`, and `hwloc_bitmap_copy` that keeps the memory.
impl Clone for Set {
    fn clone(&self) -> Self {
        Self { words: SmallVec::from_slice(&self.words), infinite: self.infinite }
    }

    fn clone_from(&mut self, source: &Self) {
        self.resize(source.words.len());
        self.words.copy_from_slice(&source.words);
        self.infinite = source.infinite;
    }
}

impl FromIterator<u32> for Set {
    fn from_iter<I: IntoIterator<Item = u32>>(indexes: I) -> Self {
        let mut set = Self::new();
        indexes.into_iter().for_each(|index| set.insert(index));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_sets_are_equal_values_however_they_were_made() {
        assert_eq!(Set::from_words([5, 0, 0], false), Set::from_words([5], false));
        assert_eq!(Set::from_words([5, u64::MAX], true), Set::from_words([5], true));
        assert_ne!(Set::from_words([5], true), Set::from_words([5], false));
    }

    #[test]
    fn a_set_prints_as_hwloc_prints_it() {
        for (words, infinite, text) in [
            (vec![], false, "0x0"),
            (vec![1], false, "0x00000001"),
            (vec![1 << 32], false, "0x00000001,0x0"),
            (vec![0, 1], false, "0x00000001,,0x0"),
            (vec![u64::MAX, 1], false, "0x00000001,0xffffffff,0xffffffff"),
            (vec![], true, "0xf...f"),
            (vec![6], true, "0xf...f,,0x00000006"),
        ] {
            assert_eq!(Set::from_words(words, infinite).to_string(), text);
        }
    }

    #[test]
    fn an_infinite_set_has_every_late_index_and_no_weight() {
        let set = Set::from_words([6], true);
        assert!(set.contains(1) && !set.contains(3) && set.contains(100_000));
        assert_eq!(set.weight(), None);
        assert!(Set::from_words([2], false).is_included_in(&set));
        assert!(!set.is_included_in(&Set::from_words([6], false)));
    }

    #[test]
    fn iteration_gives_back_the_indexes_in_order() {
        let indexes = [0, 63, 64, 200, 1500];
        let set: Set = indexes.into_iter().rev().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), indexes);
    }

    /// Indexes of a set below a bound, one by one: the slow truth.
    fn indexes(set: &Set) -> Vec<u32> {
        (0..400).filter(|index| set.contains(*index)).collect()
    }

    fn any_set() -> impl Strategy<Value = Set> {
        let words =
            proptest::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 0..5);
        (words, any::<bool>()).prop_map(|(words, infinite)| Set::from_words(words, infinite))
    }

    proptest! {
        #[test]
        fn operations_hold_index_by_index(a in any_set(), b in any_set()) {
            let expect = |set: &Set, holds: &dyn Fn(bool, bool) -> bool| {
                (0..400).all(|i| set.contains(i) == holds(a.contains(i), b.contains(i)))
            };
            prop_assert!(expect(&(&a & &b), &|a, b| a && b));
            prop_assert!(expect(&(&a | &b), &|a, b| a || b));
            prop_assert!(expect(&(&a ^ &b), &|a, b| a != b));
            prop_assert!(expect(&a.and_not(&b), &|a, b| a && !b));
            prop_assert!(expect(&!&a, &|a, _| !a));
            let mut copy = b.clone();
            copy.clone_from(&a);
            prop_assert_eq!(&copy, &a);
            prop_assert_eq!(a.intersects(&b), !(&a & &b).is_empty());
            prop_assert_eq!(a.is_included_in(&b), (&a & &b) == a);
        }

        #[test]
        fn walks_and_ends_hold_index_by_index(set in any_set(), from in 0u32..330) {
            let indexes = indexes(&set);
            prop_assert_eq!(set.first(), indexes.first().copied());
            if !set.is_infinite() {
                prop_assert_eq!(set.last(), indexes.last().copied());
                prop_assert_eq!(set.iter().collect::<Vec<_>>(), indexes.clone());
            }
            let next = indexes.iter().copied().find(|index| *index > from);
            prop_assert_eq!(set.next_after(from), next);
            prop_assert_eq!(set.singlify().weight(), Some(u32::from(!set.is_empty())));
        }

        #[test]
        fn what_is_put_in_is_in_and_what_is_taken_out_is_not(
            set in any_set(),
            first in 0u32..300,
            length in 0u32..99,
        ) {
            let range = first..=first + length;
            let mut more = set.clone();
            more.insert_range(range.clone());
            let mut less = set.clone();
            range.clone().for_each(|index| less.remove(index));
            let mut rest = set.clone();
            rest.insert_from(first);
            for index in 0..400 {
                let (had, inside) = (set.contains(index), range.contains(&index));
                prop_assert_eq!(more.contains(index), had || inside);
                prop_assert_eq!(less.contains(index), had && !inside);
                prop_assert_eq!(rest.contains(index), had || index >= first);
            }
        }
    }

    #[test]
    fn bad_text_is_an_error_with_its_position() {
        for (text, format, position) in [
            ("0-3,x", Format::List, 4),
            ("5-3", Format::List, 2),
            ("0,131072", Format::List, 2),
            ("0 1", Format::List, 1),
            ("0x1,0xg", Format::Hwloc, 4),
            ("0x100000000", Format::Hwloc, 0),
            ("0xf...fx", Format::Hwloc, 7),
            ("0x", Format::Taskset, 2),
            ("0x12z", Format::Taskset, 4),
        ] {
            let error = Set::parse(text, format).unwrap_err();
            assert_eq!((error.position, error.text.as_str()), (position, text), "{error}");
        }
    }
}
