//! Sets of OS indexes: CPU sets and node sets.

use smallvec::SmallVec;
use std::fmt;

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
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
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
        let mut set = Self { words: words.into_iter().collect(), infinite };
        set.normalize();
        set
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
    pub fn insert(&mut self, index: u32) {
        let word = index as usize / 64;
        if word >= self.words.len() {
            if self.infinite {
                return;
            }
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word |= 1 << (index % 64);
        }
        self.normalize();
    }

    /// Whether `index` is in the set. Counterpart: `hwloc_bitmap_isset`.
    #[doc(alias = "hwloc_bitmap_isset")]
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        (self.word(index as usize / 64) >> (index % 64)) & 1 == 1
    }

    /// Number of indexes, `None` of an infinite set. Counterpart: `hwloc_bitmap_weight`.
    #[doc(alias = "hwloc_bitmap_weight")]
    #[must_use]
    pub fn weight(&self) -> Option<u32> {
        (!self.infinite).then(|| self.words.iter().map(|word| word.count_ones()).sum())
    }

    /// Whether every index of this set is in `other`. Counterpart: `hwloc_bitmap_isincluded`.
    #[doc(alias = "hwloc_bitmap_isincluded")]
    #[must_use]
    pub fn is_included_in(&self, other: &Self) -> bool {
        self.and_not(other).is_empty()
    }

    /// The indexes of this set that are not in `other`. Counterpart: `hwloc_bitmap_andnot`.
    #[doc(alias = "hwloc_bitmap_andnot")]
    #[must_use]
    pub fn and_not(&self, other: &Self) -> Self {
        let length = self.words.len().max(other.words.len());
        let words = (0..length).map(|i| self.word(i) & !other.word(i));
        Self::from_words(words, self.infinite && !other.infinite)
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

    fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(if self.infinite { u64::MAX } else { 0 })
    }

    fn normalize(&mut self) {
        let filler = if self.infinite { u64::MAX } else { 0 };
        while self.words.last() == Some(&filler) {
            self.words.pop();
        }
    }
}

impl FromIterator<u32> for Set {
    fn from_iter<I: IntoIterator<Item = u32>>(indexes: I) -> Self {
        let mut set = Self::new();
        indexes.into_iter().for_each(|index| set.insert(index));
        set
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.infinite {
            f.write_str("0xf...f")?;
            if self.words.is_empty() {
                return Ok(());
            }
        }
        let halves = self.words.iter().rev().flat_map(|word| [word >> 32, word & 0xffff_ffff]);
        let mut left = self.words.len() * 2;
        let mut started = self.infinite;
        for half in halves {
            left -= 1;
            match (started, half) {
                (false, 0) => continue,
                (false, _) => write!(f, "0x{half:08x}")?,
                (true, 0) if left > 0 => f.write_str(",")?,
                (true, 0) => f.write_str(",0x0")?,
                (true, _) => write!(f, ",0x{half:08x}")?,
            }
            started = true;
        }
        if started { Ok(()) } else { f.write_str("0x0") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
