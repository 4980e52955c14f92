//! Comparisons of an object's cpuset with other sets, without building the cpuset.

use super::Index;
use super::objects_of_pus::{is_within, overlap};
use super::stored_set::StoredSet;
use super::words::{Words, low_bits};
use core::ops::Range;
use topobroker_layout::set::Set;

/// The cpuset of an object: the visible PUs of its run, or a stored set.
#[derive(Clone)]
pub(crate) enum Extent<'a> {
    Pus(&'a Index<'a>, Range<u32>),
    Stored(StoredSet<'a>),
}

impl Extent<'_> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Pus(index, pus) => index.visible_run(pus).is_empty(),
            Self::Stored(set) => set.is_empty(),
        }
    }

    #[inline]
    pub(crate) fn is_inside(&self, set: &Set) -> bool {
        match self {
            Self::Pus(index, pus) => index.has_all(set, pus.clone()),
            Self::Stored(stored) => stored.is_included_in(set),
        }
    }

    #[inline]
    pub(crate) fn intersects(&self, set: &Set) -> bool {
        match self {
            Self::Pus(index, pus) => index.has_some(set, pus.clone()),
            Self::Stored(stored) => stored.intersects(set),
        }
    }

    pub(crate) fn covers(&self, set: &Set) -> bool {
        match self {
            Self::Pus(index, pus) => match index.bounds_of(set) {
                Some((low, high)) => pus.start <= low && high < pus.end,
                None => set.is_empty(),
            },
            Self::Stored(stored) => Words::is_included_in(set, stored),
        }
    }

    #[inline]
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Pus(index, own), Self::Pus(_, theirs)) => {
                let (own, theirs) = (index.visible_run(own), index.visible_run(theirs));
                own == theirs || (own.is_empty() && theirs.is_empty())
            }
            _ => Words::equals(self, other),
        }
    }

    /// Whether this cpuset has PUs of another one.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Pus(index, own), Self::Pus(_, theirs)) => {
                overlap(&index.visible_run(own), &index.visible_run(theirs))
            }
            _ => Words::intersects(self, other),
        }
    }

    /// Whether all PUs of this cpuset are in another one.
    #[inline]
    pub(crate) fn is_part_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Pus(index, own), Self::Pus(_, theirs)) => {
                is_within(&index.visible_run(own), &index.visible_run(theirs))
            }
            _ => self.is_included_in(other),
        }
    }

    /// Number of PUs, `None` for an infinite set.
    #[inline]
    pub(crate) fn weight(&self) -> Option<u32> {
        match self {
            Self::Pus(index, pus) => {
                let visible = index.visible_run(pus);
                Some(visible.end - visible.start)
            }
            Self::Stored(set) if set.is_infinite() => None,
            Self::Stored(set) => {
                Some((0..set.word_count()).map(|index| set.word(index).count_ones()).sum())
            }
        }
    }
}

impl Words for Extent<'_> {
    fn word(&self, index: usize) -> u64 {
        match self {
            Self::Stored(set) => set.word(index),
            Self::Pus(topology, pus) => {
                let word = index as u64 * 64..(index as u64 + 1) * 64;
                let visible = topology.overlay.map_or(u64::MAX, |overlay| overlay.cpus.word(index));
                visible
                    & topology.os_ranges(pus.clone()).fold(0, |bits, range| {
                        let first = u64::from(range.start).clamp(word.start, word.end) - word.start;
                        let end = u64::from(range.end).clamp(word.start, word.end) - word.start;
                        bits | (low_bits(end) & !low_bits(first))
                    })
            }
        }
    }

    fn word_count(&self) -> usize {
        match self {
            Self::Stored(set) => set.word_count(),
            Self::Pus(index, pus) => {
                let ends = index.os_ranges(pus.clone()).map(|range| range.end);
                ends.max().unwrap_or(0).div_ceil(64) as usize
            }
        }
    }

    fn is_infinite(&self) -> bool {
        matches!(self, Self::Stored(set) if set.is_infinite())
    }
}
