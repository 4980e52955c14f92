//! How the system numbers PUs where it does so evenly: one after the other, or first threads of all cores first.

use crate::stored_set::below;
use std::ops::Range;
use topobroker_layout::archive::ArchivedPuRun;
use topobroker_layout::set::Set;

/// PUs as some turns through the machine, a power of two of them: each turn has the OS indexes of one PU of every
/// block of as many as there are turns, and goes on where the turn before it ended. One turn: OS indexes follow each
/// other in logical order.
#[derive(Clone, Copy)]
pub(crate) struct Numbering {
    /// OS index of the first PU.
    first: u32,
    /// Logarithm of the number of turns.
    shift: u32,
    /// PUs of each turn.
    each: u32,
}

/// Numbers of turns that are looked at: those of the hardware threads of a core.
const TURNS: [u32; 4] = [1, 2, 4, 8];
const MOST_TURNS: usize = 8;

impl Numbering {
    /// How runs number all of `count` PUs, if it is so.
    pub(crate) fn new(runs: &[ArchivedPuRun], count: u32) -> Option<Self> {
        // Even and odd indexes of two packages are turns too, but as many as a package has cores: runs are quicker.
        let turns = u32::try_from(runs.len()).ok().filter(|turns| TURNS.contains(turns))?;
        let first = runs.first()?.os_first.to_native();
        let each = count >> turns.trailing_zeros();
        let is_turn = |(run, place): (&ArchivedPuRun, u32)| {
            run.os_first.to_native() == first + place * each
                && run.logical_first.to_native() == place
                && run.step.to_native() == turns
                && run.count.to_native() == each
        };
        let even = each * turns == count && runs.iter().zip(0..).all(is_turn);
        even.then_some(Self { first, shift: turns.trailing_zeros(), each })
    }

    /// The OS index of the first PU, where those of the others follow it.
    #[inline]
    pub(crate) fn in_a_row(&self) -> Option<u32> {
        (self.shift == 0).then_some(self.first)
    }

    /// Whether a set has all of some PUs that follow each other in logical order.
    #[inline]
    pub(crate) fn has_all(&self, set: &Set, pus: Range<u32>) -> bool {
        match self.in_a_row() {
            Some(first) => set.contains_range(first + pus.start..first + pus.end),
            None => self.every_turn(&pus, |range| set.contains_range(range)),
        }
    }

    /// Whether a set has one of some PUs that follow each other in logical order.
    #[inline]
    pub(crate) fn has_some(&self, set: &Set, pus: Range<u32>) -> bool {
        match self.in_a_row() {
            Some(first) => set.intersects_range(first + pus.start..first + pus.end),
            None => !self.every_turn(&pus, |range| !set.intersects_range(range)),
        }
    }

    /// Makes a set of the OS indexes of PUs that follow each other in logical order.
    #[inline]
    pub(crate) fn copy(&self, pus: Range<u32>, set: &mut Set) {
        match self.in_a_row() {
            Some(first) => set.assign_range(first + pus.start..first + pus.end),
            None => self.copy_turns(pus, set),
        }
    }

    /// Soonest of whole cores of two threads, as most objects are, and of one PU.
    #[inline(never)]
    fn copy_turns(&self, pus: Range<u32>, set: &mut Set) {
        if self.shift == 1 && (pus.start | pus.end).is_multiple_of(2) {
            let (first, end) = (self.first + pus.start / 2, self.first + pus.end / 2);
            return set.assign_twice(first..end, self.each);
        }
        if pus.end - pus.start == 1 {
            let os_index = self.os_index(pus.start);
            return set.assign_range(os_index..os_index + 1);
        }
        self.copy_any_turns(&pus, set);
    }

    #[inline(never)]
    fn copy_any_turns(&self, pus: &Range<u32>, set: &mut Set) {
        let mut ranges = [const { 0..0 }; MOST_TURNS];
        for (turn, range) in self.turns().zip(&mut ranges) {
            *range = self.turn(turn, pus);
        }
        set.assign_ranges(&ranges);
    }

    /// Puts the OS indexes of PUs that follow each other in logical order into a set.
    #[inline]
    pub(crate) fn add(&self, pus: Range<u32>, set: &mut Set) {
        match self.in_a_row() {
            Some(first) if !pus.is_empty() => {
                set.insert_range(first + pus.start..=first + pus.end - 1);
            }
            _ => self.add_turns(pus, set),
        }
    }

    #[inline(never)]
    fn add_turns(&self, pus: Range<u32>, set: &mut Set) {
        if set.is_empty() {
            return self.copy_turns(pus, set);
        }
        // The highest first, so that the set gets its length at once.
        for turn in self.turns().rev() {
            let range = self.turn(turn, &pus);
            if !range.is_empty() {
                set.insert_range(range.start..=range.end - 1);
            }
        }
    }

    #[inline(never)]
    fn every_turn(&self, pus: &Range<u32>, holds: impl Fn(Range<u32>) -> bool) -> bool {
        self.turns().all(|turn| holds(self.turn(turn, pus)))
    }

    /// The OS index of a PU.
    #[inline]
    fn os_index(&self, pu: u32) -> u32 {
        let turn = pu & ((1 << self.shift) - 1);
        self.start_of(turn) + (pu >> self.shift)
    }

    #[inline]
    pub(crate) fn turns(&self) -> Range<u32> {
        0..1 << self.shift
    }

    /// The lowest OS index of a turn.
    #[inline]
    pub(crate) fn start_of(&self, turn: u32) -> u32 {
        self.first + turn * self.each
    }

    /// How many of some PUs each turn has, if all have as many.
    #[inline]
    pub(crate) fn part_of_turn(&self, pus: u32) -> Option<u32> {
        (pus.trailing_zeros() >= self.shift).then_some(pus >> self.shift)
    }

    /// OS indexes of those PUs that are of a turn.
    #[inline]
    pub(crate) fn turn(&self, turn: u32, pus: &Range<u32>) -> Range<u32> {
        let round_up = (1 << self.shift) - 1 - turn;
        let first = self.start_of(turn);
        let before = |pu: u32| (pu + round_up) >> self.shift;
        first + before(pus.start)..first + before(pus.end)
    }

    /// Whether a set, of which this is the lowest OS index, has nothing but PUs of some that follow each other in
    /// logical order.
    #[inline]
    pub(crate) fn has_no_others(&self, set: &Set, lowest: u32, pus: &Range<u32>) -> bool {
        let turn = |turn| self.turn(turn, pus);
        match self.shift {
            0 => is_all_in(set, lowest, [turn(0)]),
            1 => is_all_in(set, lowest, [turn(0), turn(1)]),
            _ => is_all_in(set, lowest, self.turns().map(turn)),
        }
    }

    /// The logical index of the PU with an OS index.
    #[inline]
    pub(crate) fn logical_index(&self, os_index: u32) -> Option<u32> {
        let place = os_index.checked_sub(self.first)?;
        if place >= self.each << self.shift {
            return None;
        }
        Some(match self.shift {
            0 => place,
            1 if place < self.each => place << 1,
            1 => ((place - self.each) << 1) + 1,
            shift => ((place % self.each) << shift) + place / self.each,
        })
    }

    /// Logical indexes of the PUs of a set with the lowest and the highest OS index; `None` if it is empty or has an
    /// index that no PU has.
    #[inline]
    pub(crate) fn ends_of(&self, set: &Set) -> Option<(u32, u32)> {
        Some((self.logical_index(set.first()?)?, self.logical_index(set.last()?)?))
    }

    /// Lowest and highest logical index of the PUs of a set; `None` as above.
    #[inline]
    pub(crate) fn bounds_of(&self, set: &Set) -> Option<(u32, u32)> {
        let ends = self.ends_of(set)?;
        if self.shift == 0 { Some(ends) } else { self.bounds_of_turns(set) }
    }

    /// The same of a set that has PUs and nothing else.
    #[inline(never)]
    fn bounds_of_turns(&self, set: &Set) -> Option<(u32, u32)> {
        let turns = self.turns();
        let first = |turn: u32| self.start_of(turn);
        let two = |index: u32| set.bits_from(first(0) + index) | set.bits_from(first(1) + index);
        let more = |index: u32| {
            turns.clone().fold(0, |bits, turn| bits | set.bits_from(first(turn) + index))
        };
        let (mut low, mut high) = (None, 0);
        for index in (0..self.each).step_by(64) {
            // What some turn has.
            let bits = if self.shift == 1 { two(index) } else { more(index) };
            let bits = bits & below((self.each - index).into());
            if bits != 0 {
                low = low.or(Some(index + bits.trailing_zeros()));
                high = index + 63 - bits.leading_zeros();
            }
        }
        let low = low?;
        let has = |turn: u32, place: u32| set.contains(first(turn) + place);
        let lowest = turns.clone().find(|turn| has(*turn, low))?;
        let highest = turns.clone().rfind(|turn| has(*turn, high))?;
        Some(((low << self.shift) + lowest, (high << self.shift) + highest))
    }
}

/// Whether a set, of which this is the lowest index, has no others than those of ranges of which each is behind the
/// one before it.
#[inline]
fn is_all_in(set: &Set, lowest: u32, ranges: impl IntoIterator<Item = Range<u32>>) -> bool {
    let mut next = Some(lowest);
    for range in ranges {
        match next {
            Some(found) if found < range.start => return false,
            Some(found) if found < range.end => next = set.next_from(range.end),
            _ => {}
        }
    }
    next.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OS indexes one by one, in logical order.
    fn os_indexes(numbering: Numbering) -> Vec<u32> {
        let turns = 1 << numbering.shift;
        let of = |pu: u32| numbering.first + pu % turns * numbering.each + pu / turns;
        (0..numbering.each * turns).map(of).collect()
    }

    #[test]
    fn what_is_numbered_in_turns_is_found_as_one_by_one() {
        let mut random = fastrand::Rng::with_seed(7);
        for (first, shift, each) in
            [(0, 0, 70), (3, 0, 5), (0, 1, 4), (5, 1, 96), (0, 1, 192), (0, 2, 28), (9, 3, 65)]
        {
            let numbering = Numbering { first, shift, each };
            let all = os_indexes(numbering);
            for _ in 0..if cfg!(miri) { 4 } else { 400 } {
                let ends = [random.usize(..=all.len()), random.usize(..=all.len())];
                let (start, end) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                let pus = u32::try_from(start).unwrap()..u32::try_from(end).unwrap();
                let inside: Set = all[start..end].iter().copied().collect();
                let mut copy: Set = [1, 500].into_iter().collect();
                numbering.copy(pus.clone(), &mut copy);
                assert_eq!(copy, inside);
                let mut added: Set = [first, 900].into_iter().collect();
                let expected = &added | &inside;
                numbering.add(pus.clone(), &mut added);
                assert_eq!(added, expected);

                let share = [1, 2, 40][random.usize(..3)];
                let chosen = |_: &&u32| random.usize(..share) == 0;
                let set: Set = all.iter().filter(chosen).copied().collect();
                assert_eq!(numbering.has_all(&set, pus.clone()), inside.is_included_in(&set));
                assert_eq!(numbering.has_some(&set, pus.clone()), inside.intersects(&set));
                let lowest = set.first().unwrap_or(0);
                let within = set.is_included_in(&inside);
                let is_only = set.is_empty() || numbering.has_no_others(&set, lowest, &pus);
                assert_eq!(is_only, within);
                let mut found = (0u32..).zip(&all).filter(|(_, os)| set.contains(**os));
                let low = found.next().map(|(pu, _)| pu);
                let high = found.last().map(|(pu, _)| pu).or(low);
                assert_eq!(numbering.bounds_of(&set), low.zip(high));
                let logical = |os: Option<u32>| all.iter().position(|other| Some(*other) == os);
                let ends = logical(set.first()).zip(logical(set.last()));
                let as_index = |(low, high): (u32, u32)| (low as usize, high as usize);
                assert_eq!(numbering.ends_of(&set).map(as_index), ends);
            }
            let behind = first + (each << shift);
            for outside in [first.checked_sub(1), Some(behind), Some(behind + 100)] {
                let set: Set = outside.into_iter().chain([first]).collect();
                assert_eq!(numbering.bounds_of(&set).is_some(), outside.is_none());
            }
        }
    }
}
