//! The PUs of an object, compared with sets without making one.

use crate::object::Object;
use crate::stored_set::{StoredSet, Words, below};
use crate::topology::Topology;
use std::ops::Range;
use topobroker_layout::archive::CPUSET_OF_PUS;
use topobroker_layout::set::Set;
use topobroker_layout::tree::Member;

/// The cpuset of an object: the PUs below it, or a set of its own.
#[derive(Clone)]
pub(crate) enum Extent<'a> {
    Pus(Topology<'a>, Range<u32>),
    Stored(StoredSet<'a>),
}

impl<'a> Object<'a> {
    /// The PUs of the object, `None` of I/O and Misc objects.
    #[inline]
    pub(crate) fn extent(self) -> Option<Extent<'a>> {
        let topology = self.topology();
        if topology.seen.has_runs {
            return self.has_sets().then(|| Extent::Pus(topology, self.base_pus()));
        }
        Some(match topology.seen.archive.sets.cpuset.get_u32(self.set_row()?) {
            CPUSET_OF_PUS => Extent::Pus(topology, self.base_pus()),
            row => Extent::Stored(topology.stored_cpuset(row)),
        })
    }

    /// Whether the cpuset is not empty and all in `set`, as hwloc's queries of what is inside a set
    /// ask. Never of I/O and Misc objects. Counterparts: `hwloc_bitmap_iszero` and
    /// `hwloc_bitmap_isincluded` of `cpuset` and a set.
    #[must_use]
    #[inline]
    pub fn is_inside(self, set: &Set) -> bool {
        self.extent().is_some_and(|extent| !extent.is_empty() && extent.is_inside(set))
    }

    /// Whether the cpuset and `set` have a PU in common. Never of I/O and Misc objects.
    /// Counterpart: `hwloc_bitmap_intersects` of `cpuset` and a set.
    #[must_use]
    #[inline]
    pub fn intersects(self, set: &Set) -> bool {
        self.extent().is_some_and(|extent| extent.intersects(set))
    }

    /// Whether all of `set` is in the cpuset. Never of I/O and Misc objects. Counterpart:
    /// `hwloc_bitmap_isincluded` of a set and `cpuset`.
    #[must_use]
    pub fn covers(self, set: &Set) -> bool {
        self.extent().is_some_and(|extent| extent.covers(set))
    }

    /// Number of PUs in the cpuset; `None` of I/O and Misc objects, and of an infinite set.
    /// Counterpart: `hwloc_bitmap_weight` of `cpuset`.
    #[must_use]
    #[inline]
    pub fn cpuset_weight(self) -> Option<u32> {
        let topology = self.topology();
        if topology.seen.has_runs {
            let weight = || {
                let Member { pu_first, pu_count, .. } = topology.seen.tree.member(self.id());
                let pus = pu_first..pu_first + pu_count;
                match topology.seen.solid {
                    Some((start, end)) => pus.end.min(end).saturating_sub(pus.start.max(start)),
                    None => length(&topology.shown_run(&pus)),
                }
            };
            return self.has_sets().then(weight);
        }
        match self.extent()? {
            Extent::Pus(_, pus) => Some(length(&topology.shown_run(&pus))),
            Extent::Stored(set) if set.is_endless() => None,
            Extent::Stored(set) => {
                Some((0..set.word_count()).map(|index| set.word(index).count_ones()).sum())
            }
        }
    }
}

impl Extent<'_> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Pus(topology, pus) => topology.shown_run(pus).is_empty(),
            Self::Stored(set) => set.is_within(&Set::new()),
        }
    }

    #[inline]
    pub(crate) fn is_inside(&self, set: &Set) -> bool {
        match self {
            Self::Pus(topology, pus) => topology.has_all(set, pus.clone()),
            Self::Stored(stored) => stored.is_within(set),
        }
    }

    #[inline]
    pub(crate) fn intersects(&self, set: &Set) -> bool {
        match self {
            Self::Pus(topology, pus) => topology.has_some(set, pus.clone()),
            Self::Stored(stored) => stored.meets(set),
        }
    }

    pub(crate) fn covers(&self, set: &Set) -> bool {
        match self {
            Self::Pus(topology, pus) => match topology.bounds_of(set) {
                Some((low, high)) => pus.start <= low && high < pus.end,
                None => set.is_empty(),
            },
            Self::Stored(stored) => set.is_within(stored),
        }
    }

    #[inline]
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Pus(topology, own), Self::Pus(_, theirs)) => {
                let (own, theirs) = (topology.shown_run(own), topology.shown_run(theirs));
                own == theirs || (own.is_empty() && theirs.is_empty())
            }
            _ => self.is_same_as(other),
        }
    }

    /// Whether all of this is in another.
    #[inline]
    pub(crate) fn is_part_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Pus(topology, own), Self::Pus(_, theirs)) => {
                is_part(&topology.shown_run(own), &topology.shown_run(theirs))
            }
            _ => self.is_within(other),
        }
    }
}

/// A stored set of PUs that is no object's, of which hwloc leaves those of the root when it restricts
/// a topology.
pub(crate) struct PusLeft<'a> {
    set: StoredSet<'a>,
    root: Option<Extent<'a>>,
}

impl<'a> Topology<'a> {
    /// A stored set of PUs that is no object's.
    pub(crate) fn pus_left(self, row: u32) -> PusLeft<'a> {
        let root = self.seen.overlay.and_then(|_| self.root().extent());
        PusLeft { set: self.stored_cpuset(row), root }
    }
}

impl Words for PusLeft<'_> {
    fn word(&self, index: usize) -> u64 {
        self.set.word(index) & self.root.as_ref().map_or(u64::MAX, |root| root.word(index))
    }

    fn word_count(&self) -> usize {
        let root = self.root.as_ref().filter(|_| self.set.is_endless());
        self.set.word_count().max(root.map_or(0, Words::word_count))
    }

    fn is_endless(&self) -> bool {
        self.set.is_endless() && self.root.as_ref().is_none_or(Words::is_endless)
    }
}

impl Words for Extent<'_> {
    fn word(&self, index: usize) -> u64 {
        match self {
            Self::Stored(set) => set.word(index),
            Self::Pus(topology, pus) => {
                let word = index as u64 * 64..(index as u64 + 1) * 64;
                let kept =
                    topology.seen.overlay.map_or(u64::MAX, |overlay| overlay.cpus.word(index));
                kept & topology.os_ranges(pus.clone()).fold(0, |bits, range| {
                    let first = u64::from(range.start).clamp(word.start, word.end) - word.start;
                    let end = u64::from(range.end).clamp(word.start, word.end) - word.start;
                    bits | (below(end) & !below(first))
                })
            }
        }
    }

    fn word_count(&self) -> usize {
        match self {
            Self::Stored(set) => set.word_count(),
            Self::Pus(topology, pus) => {
                let ends = topology.os_ranges(pus.clone()).map(|range| range.end);
                ends.max().unwrap_or(0).div_ceil(64) as usize
            }
        }
    }

    fn is_endless(&self) -> bool {
        matches!(self, Self::Stored(set) if set.is_endless())
    }
}

fn length(pus: &Range<u32>) -> u32 {
    pus.end - pus.start
}

/// Whether all PUs of a run are in another.
#[inline]
pub(crate) fn is_part(inner: &Range<u32>, outer: &Range<u32>) -> bool {
    inner.is_empty() || (outer.start <= inner.start && inner.end <= outer.end)
}
