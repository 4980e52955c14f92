//! Sets of OS indexes: CPU sets and node sets.

mod combine;
mod ranges;
#[cfg(test)]
mod tests;
mod text;

pub use text::{Format, ParseSetError};

use smallvec::SmallVec;

/// Number of words that a set stores without the heap: enough for 1024 PUs.
const INLINE_WORDS: usize = 16;

/// A set of OS indexes. It may be infinite: then it has all indexes from some index on.
/// Counterpart: `hwloc_bitmap_t`, `hwloc_cpuset_t`, `hwloc_nodeset_t`.
///
/// A set is always in normal form: its last stored word differs from the words that follow. So
/// equal sets are equal values. Sets of indexes below 1024 take no heap.
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
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
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

    /// The set that has index `64 * i + b` if bit `b` of word `i` is set. It has every index past
    /// the words if `infinite` is true.
    #[must_use]
    pub fn from_words(words: impl IntoIterator<Item = u64>, infinite: bool) -> Self {
        let mut set = Self::new();
        set.assign(words, infinite);
        set
    }

    /// Makes this the set that [`Set::from_words`] returns. The memory of the set is reused.
    pub fn assign(&mut self, words: impl IntoIterator<Item = u64>, infinite: bool) {
        self.words.clear();
        self.words.extend(words);
        self.infinite = infinite;
        self.normalize();
    }

    /// The stored words of the set, low indexes first. The words that follow are all ones if the
    /// set is infinite, otherwise zeros.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether every index past the words is in the set.
    #[must_use]
    pub fn is_infinite(&self) -> bool {
        self.infinite
    }

    /// Whether the set has no index. Counterpart: `hwloc_bitmap_iszero`.
    #[doc(alias = "hwloc_bitmap_iszero")]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && !self.infinite
    }

    /// Adds `index` to the set. Counterpart: `hwloc_bitmap_set`.
    #[doc(alias = "hwloc_bitmap_set")]
    #[inline]
    pub fn insert(&mut self, index: u32) {
        let (place, bit) = (index as usize / 64, 1 << (index % 64));
        match self.words.get_mut(place) {
            Some(word) => {
                *word |= bit;
                self.normalize();
            }
            None if self.infinite => {}
            None => self.push(place, bit),
        }
    }

    /// Adds a word at `place`, which must be after the words of a finite set.
    fn push(&mut self, place: usize, word: u64) {
        if let Some(missing) = place.checked_sub(self.words.len()) {
            self.words.reserve(missing + 1);
            self.words.resize(place, 0);
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

    /// Number of indexes, `None` for an infinite set. Counterpart: `hwloc_bitmap_weight`.
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
        // There is no early exit, so that the compiler can vectorise the loop.
        own.iter().zip(all).fold(0, |missing, (own, all)| missing | (own & !all)) == 0
            && (other.infinite || (!self.infinite && own_rest.is_empty()))
            && (!self.infinite || other_rest.iter().all(|word| *word == u64::MAX))
    }

    /// Removes `index` from the set. Counterpart: `hwloc_bitmap_clr`.
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
        let common = self.words.len().min(other.words.len());
        let (own, own_rest) = self.words.split_at_checked(common).unwrap_or_default();
        let (all, other_rest) = other.words.split_at_checked(common).unwrap_or_default();
        let is_set = |word: &u64| *word != 0;
        own.iter().zip(all).any(|(own, other)| own & other != 0)
            || (self.infinite && (other.infinite || other_rest.iter().any(is_set)))
            || (other.infinite && own_rest.iter().any(is_set))
    }

    /// The lowest index. Counterpart: `hwloc_bitmap_first`.
    #[doc(alias = "hwloc_bitmap_first")]
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<u32> {
        self.next_from(0)
    }

    /// The highest index, `None` for an empty or infinite set. Counterpart: `hwloc_bitmap_last`.
    #[doc(alias = "hwloc_bitmap_last")]
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        let place = self.words.iter().rposition(|word| *word != 0)?;
        let word = u32::try_from(place).ok()?;
        (!self.infinite).then(|| word * 64 + 63 - self.word(place).leading_zeros())
    }

    /// The lowest index above `index`. Counterpart: `hwloc_bitmap_next`.
    #[doc(alias = "hwloc_bitmap_next")]
    #[must_use]
    pub fn next_after(&self, index: u32) -> Option<u32> {
        self.next_from(index.checked_add(1)?)
    }

    /// The lowest index that is not below `index`.
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

    /// A set of the lowest index alone, to bind a thread to one PU. Counterpart:
    /// `hwloc_bitmap_singlify`.
    #[doc(alias = "hwloc_bitmap_singlify")]
    #[must_use]
    pub fn singlify(&self) -> Self {
        self.first().into_iter().collect()
    }

    /// The indexes in ascending order; for an infinite set only the indexes within its words.
    #[must_use]
    pub fn iter(&self) -> Indexes<'_> {
        Indexes { first: 0, rest: 0, words: self.words.iter() }
    }

    /// Whether the 64 indexes from `64 * index` on are in the set, as bits.
    #[must_use]
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(self.filler())
    }

    /// Intersects each word of a finite set with the result of `word`, which is given the place of
    /// the word.
    pub fn mask(&mut self, word: impl Fn(usize) -> u64) {
        for (index, own) in self.words.iter_mut().enumerate() {
            *own &= word(index);
        }
        self.normalize();
    }

    /// The value of every word after the stored ones.
    #[inline]
    fn filler(&self) -> u64 {
        if self.infinite { u64::MAX } else { 0 }
    }

    fn normalize(&mut self) {
        let filler = self.filler();
        let last = self.words.iter().rposition(|word| *word != filler);
        self.words.truncate(last.map_or(0, |last| last + 1));
    }
}

/// The indexes of a set, in ascending order. Counterpart: `hwloc_bitmap_foreach_begin`.
#[derive(Debug, Clone)]
pub struct Indexes<'a> {
    /// The first index of the word after that of `rest`.
    first: u32,
    /// Bits of a word that were not yet returned.
    rest: u64,
    words: core::slice::Iter<'a, u64>,
}

impl Iterator for Indexes<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.rest == 0 {
            self.rest = *self.words.next()?;
            self.first += 64;
        }
        let bit = self.rest.trailing_zeros();
        self.rest &= self.rest - 1;
        Some(self.first - 64 + bit)
    }
}

/// ```
/// use topobroker_layout::set::Set;
/// let set: Set = [3, 64].into_iter().collect();
/// let mut found = Vec::new();
/// for index in &set {
///     found.push(index);
/// }
/// assert_eq!(found, [3, 64]);
/// ```
impl<'a> IntoIterator for &'a Set {
    type Item = u32;
    type IntoIter = Indexes<'a>;

    fn into_iter(self) -> Indexes<'a> {
        self.iter()
    }
}

/// Counterparts: `hwloc_bitmap_dup` for `clone`, `hwloc_bitmap_copy` for `clone_from`, which reuses
/// the memory.
impl Clone for Set {
    fn clone(&self) -> Self {
        Self { words: SmallVec::from_slice(&self.words), infinite: self.infinite }
    }

    fn clone_from(&mut self, source: &Self) {
        self.words.resize(source.words.len(), 0);
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
