//! Combines sets, word by word.

use super::Set;
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

impl Set {
    /// The indexes of this set that are not in `other`. Counterpart: `hwloc_bitmap_andnot`.
    #[doc(alias = "hwloc_bitmap_andnot")]
    #[must_use]
    pub fn and_not(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b)
    }

    /// Makes this the intersection of two sets. The memory of the set is reused. Counterpart:
    /// `hwloc_bitmap_and`.
    ///
    /// ```
    /// use topobroker_layout::set::Set;
    /// let mut both = Set::new();
    /// both.assign_and(&(0..8).collect(), &(4..70).collect());
    /// assert_eq!(both, (4..8).collect());
    /// ```
    #[doc(alias = "hwloc_bitmap_and")]
    pub fn assign_and(&mut self, one: &Self, other: &Self) {
        // Fast path: without it, an intersection takes 1.7 times as long as hwloc's.
        if one.infinite || other.infinite {
            self.clone_from(one);
            return self.combine_with(other, |a, b| a & b);
        }
        let words = one.words.iter().zip(&other.words);
        let both = |(one, other): (&u64, &u64)| one & other;
        let last = words.clone().rposition(|words| both(words) != 0);
        self.words.resize(last.map_or(0, |last| last + 1), 0);
        self.infinite = false;
        self.words.iter_mut().zip(words).for_each(|(own, words)| *own = both(words));
    }

    fn combine(&self, other: &Self, operation: impl Fn(u64, u64) -> u64) -> Self {
        let mut set = self.clone();
        set.combine_with(other, operation);
        set
    }

    fn combine_with(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) {
        let (own_filler, filler) = (self.filler(), other.filler());
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), own_filler);
        }
        let (common, rest) = self.words.split_at_mut_checked(other.words.len()).unwrap_or_default();
        for (own, other) in common.iter_mut().zip(&other.words) {
            *own = operation(*own, *other);
        }
        rest.iter_mut().for_each(|own| *own = operation(*own, filler));
        self.infinite = operation(own_filler, filler) != 0;
        self.normalize();
    }
}

/// Counterpart: `hwloc_bitmap_and` with the first set as the result.
impl BitAndAssign<&Self> for Set {
    fn bitand_assign(&mut self, other: &Self) {
        self.combine_with(other, |a, b| a & b);
    }
}

/// Counterpart: `hwloc_bitmap_and`.
impl BitAnd for &Set {
    type Output = Set;

    fn bitand(self, other: Self) -> Set {
        let mut set = Set::new();
        set.assign_and(self, other);
        set
    }
}

/// Counterpart: `hwloc_bitmap_or` with the first set as the result.
impl BitOrAssign<&Self> for Set {
    fn bitor_assign(&mut self, other: &Self) {
        self.combine_with(other, |a, b| a | b);
    }
}

/// Counterpart: `hwloc_bitmap_or`.
impl BitOr for &Set {
    type Output = Set;

    fn bitor(self, other: Self) -> Set {
        self.combine(other, |a, b| a | b)
    }
}

/// Counterpart: `hwloc_bitmap_xor` with the first set as the result.
impl BitXorAssign<&Self> for Set {
    fn bitxor_assign(&mut self, other: &Self) {
        self.combine_with(other, |a, b| a ^ b);
    }
}

/// Counterpart: `hwloc_bitmap_xor`.
impl BitXor for &Set {
    type Output = Set;

    fn bitxor(self, other: Self) -> Set {
        self.combine(other, |a, b| a ^ b)
    }
}

/// Counterpart: `hwloc_bitmap_not`.
impl Not for &Set {
    type Output = Set;

    fn not(self) -> Set {
        Set::from_words(self.words.iter().map(|word| !word), !self.infinite)
    }
}
