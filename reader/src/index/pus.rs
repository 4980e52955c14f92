//! Conversion between logical indexes of PUs, in which objects are intervals, and OS indexes, of
//! which sets consist.

use super::Index;
use super::words::{Words, low_bits};
use core::ops::Range;
use topobroker_layout::archive::ArchivedPuRun;
use topobroker_layout::set::Set;

/// With more runs than this, it is less work to look at every PU of a word than at every run.
// Fast path: up to 9.9 times as fast.
const MANY_RUNS: usize = 64;

impl<'a> Index<'a> {
    /// Logical index in the topology of the PU with an OS index, visible or hidden.
    #[inline]
    pub(crate) fn pu_of_os_index(&self, os_index: u32) -> Option<u32> {
        let run = self.run_of(os_index)?;
        Some(logical_in(run, os_index))
    }

    /// Whether OS indexes ascend in logical order.
    pub(crate) fn numbers_pus_in_order(&self) -> bool {
        matches!(self.runs, [run] if run.step.to_native() == 1)
    }

    /// OS indexes of a range of PUs, as ranges.
    #[inline]
    pub(crate) fn os_ranges(&self, pus: Range<u32>) -> impl DoubleEndedIterator<Item = Range<u32>> {
        let runs = self.runs;
        let by_run = runs.len() <= pus.len();
        let runs = if by_run { runs } else { &[] };
        let ids = self.pu_ids();
        let count = ids.end - ids.start;
        // Of a certified archive whose tree was not walked, an object may say that it has PUs that
        // are not there.
        let one_by_one = if by_run { 0..0 } else { pus.start.min(count)..pus.end.min(count) };
        let first = ids.start;
        let ranges = runs.iter().map(move |run| os_range_in(run, &pus));
        let single = one_by_one.filter_map(move |pu| self.os_index_of(first + pu));
        ranges.filter(|range| !range.is_empty()).chain(single.map(|os| os..os + 1))
    }

    /// Adds the OS indexes of a range of PUs to a set.
    pub(crate) fn add_os_indexes(&self, pus: Range<u32>, set: &mut Set) {
        // The highest range first, so that the set grows only once.
        let ranges = self.os_ranges(pus).rev();
        ranges.for_each(|range| set.insert_range(range.start..=range.end - 1));
    }

    /// The lowest OS index of the PUs that are both in a range and in a set; `u32::MAX`, which
    /// sorts last, if there is none.
    pub(crate) fn first_os_index(&self, set: &Set, pus: Range<u32>) -> u32 {
        let firsts = self
            .os_ranges(pus)
            .filter_map(|range| set.next_from(range.start).filter(|first| *first < range.end));
        firsts.min().unwrap_or(u32::MAX)
    }

    /// Whether all visible PUs of a range are in a set.
    #[inline]
    pub(crate) fn has_all(&self, set: &Set, pus: Range<u32>) -> bool {
        match self.contiguous_run(&pus) {
            Some(visible) => self.os_ranges(visible).all(|range| set.contains_range(range)),
            None => self.words_of(pus).all(|(index, of_range)| {
                self.visible_pus(index) & of_range & !self.logical_word(set, index) == 0
            }),
        }
    }

    /// Whether a visible PU of a range is in a set.
    #[inline]
    pub(crate) fn has_some(&self, set: &Set, pus: Range<u32>) -> bool {
        match self.contiguous_run(&pus) {
            Some(visible) => self.os_ranges(visible).any(|range| set.intersects_range(range)),
            None => self
                .words_of(pus)
                .any(|(index, of_range)| of_range & self.logical_word(set, index) != 0),
        }
    }

    /// The words of 64 PUs that a range of PUs lies in: the number of each word, and the bits of
    /// the range in it.
    fn words_of(&self, pus: Range<u32>) -> impl Iterator<Item = (u32, u64)> {
        let words = pus.start / 64..pus.end.div_ceil(64);
        words.map(move |index| {
            let first = index * 64;
            let before = |pu: u32| low_bits(pu.saturating_sub(first).into());
            (index, before(pus.end) & !before(pus.start))
        })
    }

    /// Visible PUs of a set with the logical indexes `64 * index` to `64 * index + 63` in the
    /// topology, as bits.
    #[inline]
    pub(crate) fn logical_word(&self, set: &Set, index: u32) -> u64 {
        self.any_logical_word(set, index) & self.visible_pus(index)
    }

    /// [`Index::logical_word`] of all PUs, visible or hidden.
    #[inline]
    fn any_logical_word(&self, set: &Set, index: u32) -> u64 {
        let (runs, ids) = (self.runs, self.pu_ids());
        let pus = index * 64..(index + 1) * 64;
        if runs.len() <= MANY_RUNS {
            return runs.iter().fold(0, |word, run| word | bits_of_run(set, run, &pus));
        }
        let chosen = |pu: u32| self.os_index_of(ids.start + pu).is_some_and(|os| set.contains(os));
        let known = pus.start..pus.end.min(ids.end - ids.start);
        known.filter(|pu| chosen(*pu)).fold(0, |word, pu| word | (1 << (pu % 64)))
    }

    /// The first visible PU of a set whose logical index is `from` or higher.
    #[inline]
    pub(crate) fn next_pu_of(&self, set: &Set, from: u32) -> Option<u32> {
        let ids = self.pu_ids();
        let words = (ids.end - ids.start).div_ceil(64);
        let mut kept = u64::MAX << (from % 64);
        for index in from / 64..words {
            let word = self.logical_word(set, index) & kept;
            if word != 0 {
                return Some(index * 64 + word.trailing_zeros());
            }
            kept = u64::MAX;
        }
        None
    }

    /// The first visible PU that is not in a set and whose logical index is `from` or higher; the
    /// number of PUs if there is none.
    #[inline]
    pub(crate) fn next_pu_not_of(&self, set: &Set, from: u32) -> u32 {
        let ids = self.pu_ids();
        let count = ids.end - ids.start;
        let mut index = from / 64;
        let missing_in = |index| !self.logical_word(set, index) & self.visible_pus(index);
        let mut missing = missing_in(index) & (u64::MAX << (from % 64));
        while missing == 0 {
            index += 1;
            if index * 64 >= count {
                return count;
            }
            missing = missing_in(index);
        }
        count.min(index * 64 + missing.trailing_zeros())
    }

    /// Lowest and highest logical index of the PUs of a set; `None` if the set is empty or has an
    /// index that no visible PU has.
    #[inline]
    pub(crate) fn bounds_of(&self, set: &Set) -> Option<(u32, u32)> {
        let contiguous = self.contiguous;
        if contiguous.is_none()
            && self.overlay.is_some_and(|overlay| !Words::is_included_in(set, &overlay.cpus))
        {
            return None;
        }
        let mut next = set.first()?;
        let (mut low, mut high) = (u32::MAX, 0);
        loop {
            let run = self.run_of(next)?;
            let end = run.os_first.to_native() + run.count.to_native();
            low = low.min(logical_in(run, next));
            high = high.max(logical_in(run, set.last_within(next..end)?));
            match set.next_from(end) {
                None => break,
                Some(behind) => next = behind,
            }
        }
        // If the visible PUs are contiguous, all PUs between two visible ones are visible.
        contiguous.is_none_or(|(start, end)| start <= low && high < end).then_some((low, high))
    }

    /// Two PUs of a set whose lowest common ancestor is that of all its PUs; `None` if the set is
    /// empty or has an index that no visible PU has.
    #[inline]
    pub(crate) fn reach_of(&self, set: &Set) -> Option<(u32, u32)> {
        // Fast path: without it, an object that covers a set takes 1.4 times as long as hwloc's.
        let interleaved =
            self.numbering.as_ref().filter(|numbering| numbering.first_if_sequential().is_none());
        if let Some((numbering, _)) = interleaved.zip(self.contiguous) {
            // The PUs with the lowest and the highest OS index are quick to find. They are enough
            // if no object below the top one has both.
            let (low, high) = numbering.ends_of(set)?;
            let is_visible =
                || self.overlay.is_none_or(|overlay| Words::is_included_in(set, &overlay.cpus));
            if self.common_ancestor.is_top(low, high) && is_visible() {
                return Some((low, high));
            }
        }
        self.bounds_of(set)
    }

    /// The run of the PU with an OS index.
    #[inline]
    fn run_of(&self, os_index: u32) -> Option<&'a ArchivedPuRun> {
        let runs = self.runs;
        let begins = |run: &ArchivedPuRun| run.os_first.to_native() <= os_index;
        let run = runs.get(runs.partition_point(begins).checked_sub(1)?)?;
        let place = os_index.checked_sub(run.os_first.to_native())?;
        (place < run.count.to_native()).then_some(run)
    }
}

/// Logical index of the PU of a run with an OS index.
#[inline]
fn logical_in(run: &ArchivedPuRun, os_index: u32) -> u32 {
    run.logical_first.to_native() + (os_index - run.os_first.to_native()) * run.step.to_native()
}

/// OS indexes of the PUs of a run whose logical indexes are in a range.
#[inline]
fn os_range_in(run: &ArchivedPuRun, pus: &Range<u32>) -> Range<u32> {
    let (first, step) = (run.logical_first.to_native(), run.step.to_native());
    let count = run.count.to_native();
    let places = |pu: u32| {
        let ahead = pu.saturating_sub(first);
        let rounded_up = ahead.div_ceil(step);
        run.os_first.to_native() + rounded_up.min(count)
    };
    places(pus.start)..places(pus.end)
}

/// The PUs of a run that are in a set and in `pus`, a range of 64 logical indexes, as bits.
#[inline]
fn bits_of_run(set: &Set, run: &ArchivedPuRun, pus: &Range<u32>) -> u64 {
    let range = os_range_in(run, pus);
    if range.is_empty() {
        return 0;
    }
    let missing = 64u32.saturating_sub(range.end - range.start);
    let bits = set.bits_from(range.start) & (u64::MAX >> missing);
    spread(bits, run.step.to_native()) << (logical_in(run, range.start) - pus.start)
}

/// Moves the low bits of a word `step` bits apart: bit `n` becomes bit `n * step`.
#[inline]
fn spread(bits: u64, step: u32) -> u64 {
    // Fast path: without it, the largest objects in a set take 1.1 times as long as hwloc's.
    if step.is_power_of_two() {
        return (0..step.trailing_zeros()).fold(bits, |bits, _| spread_by_two(bits));
    }
    let mut rest = bits;
    let mut apart = 0u64;
    while rest != 0 {
        apart |= 1u64.checked_shl(rest.trailing_zeros() * step).unwrap_or(0);
        rest &= rest - 1;
    }
    apart
}

/// [`spread`] of the low 32 bits with a step of 2.
#[inline]
fn spread_by_two(bits: u64) -> u64 {
    let halves = [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ];
    halves
        .into_iter()
        .fold(bits & 0xffff_ffff, |bits, (shift, mask)| (bits | (bits << shift)) & mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spread_as_far_as_the_step_says() {
        for step in [1, 2, 3, 4, 7, 8, 28, 32, 64] {
            let kept = (0..64 / step).filter(|bit| bit % 3 != 1);
            let bits = kept.clone().fold(0u64, |bits, bit| bits | (1 << bit));
            let apart = kept.fold(0u64, |bits, bit| bits | (1 << (bit * step)));
            assert_eq!(spread(bits, step), apart, "{step}");
        }
    }
}
