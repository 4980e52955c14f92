//! The PU numbering of the operating system, if it is sequential (one PU after the other) or an
//! interleaved SMT numbering (all first hardware threads, then all second ones).

use core::ops::Range;
use topobroker_layout::archive::ArchivedPuRun;
use topobroker_layout::set::Set;

/// Interleaved SMT numbering: all first hardware threads in logical order, then all second ones,
/// and so on. The number of threads is a power of two. With one thread, the numbering is
/// sequential: OS indexes ascend in logical order.
#[derive(Clone, Copy)]
pub(crate) struct PuNumbering {
    /// OS index of the first PU.
    first: u32,
    /// Binary logarithm of the number of threads of a core.
    shift: u32,
    /// Number of PUs of each thread, which is the number of cores.
    cores: u32,
}

/// Numbers of hardware threads per core that are recognised.
const THREADS: [u32; 4] = [1, 2, 4, 8];
const MOST_THREADS: usize = 8;

impl PuNumbering {
    /// The numbering of `count` PUs, if their runs form one.
    pub(crate) fn new(runs: &[ArchivedPuRun], count: u32) -> Option<Self> {
        // If a machine numbers the PUs of two packages alternately, it has as many runs as a
        // package has PUs. Then queries over the runs are faster, so such a numbering is not
        // recognised.
        let threads = u32::try_from(runs.len()).ok().filter(|threads| THREADS.contains(threads))?;
        let first = runs.first()?.os_first.to_native();
        let cores = count >> threads.trailing_zeros();
        let is_thread = |(run, thread): (&ArchivedPuRun, u32)| {
            run.os_first.to_native() == first + thread * cores
                && run.logical_first.to_native() == thread
                && run.step.to_native() == threads
                && run.count.to_native() == cores
        };
        let even = cores * threads == count && runs.iter().zip(0..).all(is_thread);
        even.then_some(Self { first, shift: threads.trailing_zeros(), cores })
    }

    /// OS index of the first PU, if OS indexes are sequential.
    #[inline]
    pub(crate) fn first_if_sequential(&self) -> Option<u32> {
        (self.shift == 0).then_some(self.first)
    }

    /// Replaces `set` with the OS indexes of a range of PUs.
    #[inline]
    pub(crate) fn copy(&self, pus: Range<u32>, set: &mut Set) {
        match self.first_if_sequential() {
            Some(first) => set.assign_range(first + pus.start..first + pus.end),
            None => self.copy_interleaved(pus, set),
        }
    }

    /// [`PuNumbering::copy`] for more than one thread. Whole cores of two threads have a path of
    /// their own, because nearly all objects are cores or larger.
    fn copy_interleaved(&self, pus: Range<u32>, set: &mut Set) {
        // Fast path: without it, the cpuset of an object takes 3 times as long as hwloc's.
        if self.shift == 1 && (pus.start | pus.end).is_multiple_of(2) {
            let (first, end) = (self.first + pus.start / 2, self.first + pus.end / 2);
            return set.assign_twice(first..end, self.cores);
        }
        self.copy_by_thread(&pus, set);
    }

    /// [`PuNumbering::copy`] for any range and any number of threads.
    fn copy_by_thread(&self, pus: &Range<u32>, set: &mut Set) {
        let mut ranges = [const { 0..0 }; MOST_THREADS];
        for (thread, range) in self.threads().zip(&mut ranges) {
            *range = self.os_range(thread, pus);
        }
        set.assign_ranges(&ranges);
    }

    /// Adds the OS indexes of a range of PUs to a set.
    #[inline]
    pub(crate) fn add(&self, pus: Range<u32>, set: &mut Set) {
        match self.first_if_sequential() {
            Some(first) if !pus.is_empty() => {
                set.insert_range(first + pus.start..=first + pus.end - 1);
            }
            _ => self.add_interleaved(pus, set),
        }
    }

    /// [`PuNumbering::add`] for more than one thread.
    fn add_interleaved(&self, pus: Range<u32>, set: &mut Set) {
        // Fast path: without it, the cpuset of a nodeset takes 1.4 times as long as hwloc's.
        if set.is_empty() {
            return self.copy_interleaved(pus, set);
        }
        // The highest range first, so that the set grows only once.
        for thread in self.threads().rev() {
            let range = self.os_range(thread, &pus);
            if !range.is_empty() {
                set.insert_range(range.start..=range.end - 1);
            }
        }
    }

    /// Threads, from 0.
    #[inline]
    pub(crate) fn threads(&self) -> Range<u32> {
        0..1 << self.shift
    }

    /// The lowest OS index of a thread.
    #[inline]
    pub(crate) fn start_of(&self, thread: u32) -> u32 {
        self.first + thread * self.cores
    }

    /// PUs of each thread among the first `pus` PUs, if all threads have the same number.
    #[inline]
    pub(crate) fn per_thread(&self, pus: u32) -> Option<u32> {
        (pus.trailing_zeros() >= self.shift).then_some(pus >> self.shift)
    }

    /// OS indexes of the PUs of a range that belong to a thread.
    #[inline]
    pub(crate) fn os_range(&self, thread: u32, pus: &Range<u32>) -> Range<u32> {
        let round_up = (1 << self.shift) - 1 - thread;
        let first = self.start_of(thread);
        let before = |pu: u32| (pu + round_up) >> self.shift;
        first + before(pus.start)..first + before(pus.end)
    }

    /// Whether a set has no index other than those of the PUs of a range. `lowest` is the lowest
    /// index of the set.
    #[inline]
    pub(crate) fn has_no_others(&self, set: &Set, lowest: u32, pus: &Range<u32>) -> bool {
        is_inside(set, lowest, self.threads().map(|thread| self.os_range(thread, pus)))
    }

    /// The logical index of the PU with an OS index.
    #[inline]
    pub(crate) fn logical_index(&self, os_index: u32) -> Option<u32> {
        let place = os_index.checked_sub(self.first)?;
        if place >= self.cores << self.shift {
            return None;
        }
        Some(((place % self.cores) << self.shift) + place / self.cores)
    }

    /// Logical indexes of the PUs of a set with the lowest and the highest OS index; `None` if the
    /// set is empty or has an index that no PU has.
    #[inline]
    pub(crate) fn ends_of(&self, set: &Set) -> Option<(u32, u32)> {
        Some((self.logical_index(set.first()?)?, self.logical_index(set.last()?)?))
    }
}

/// Whether all indexes of a set are in some ascending ranges. `lowest` is the lowest index of the
/// set.
#[inline]
fn is_inside(set: &Set, lowest: u32, ranges: impl IntoIterator<Item = Range<u32>>) -> bool {
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

    /// OS indexes of all PUs in logical order, computed one by one.
    fn os_indexes(numbering: PuNumbering) -> Vec<u32> {
        let threads = 1 << numbering.shift;
        let of = |pu: u32| numbering.first + pu % threads * numbering.cores + pu / threads;
        (0..numbering.cores * threads).map(of).collect()
    }

    #[test]
    fn interleaved_numbering_answers_as_a_list_of_pus_does() {
        let mut random = fastrand::Rng::with_seed(7);
        for (first, shift, cores) in
            [(0, 0, 70), (3, 0, 5), (0, 1, 4), (5, 1, 96), (0, 1, 192), (0, 2, 28), (9, 3, 65)]
        {
            let numbering = PuNumbering { first, shift, cores };
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
                let lowest = set.first().unwrap_or(0);
                let within = set.is_included_in(&inside);
                let is_only = set.is_empty() || numbering.has_no_others(&set, lowest, &pus);
                assert_eq!(is_only, within);
                let logical = |os: Option<u32>| all.iter().position(|other| Some(*other) == os);
                let ends = logical(set.first()).zip(logical(set.last()));
                let as_index = |(low, high): (u32, u32)| (low as usize, high as usize);
                assert_eq!(numbering.ends_of(&set).map(as_index), ends);
            }
            let behind = first + (cores << shift);
            for outside in [first.checked_sub(1), Some(behind), Some(behind + 100)] {
                let set: Set = outside.into_iter().chain([first]).collect();
                assert_eq!(numbering.ends_of(&set).is_some(), outside.is_none());
            }
        }
    }
}
