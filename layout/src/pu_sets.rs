//! Sets of PUs, each as runs of logical indexes. A process is nearly always bound to one run,
//! however the operating system numbers the PUs.

use crate::column::Column;
use crate::error::ValidationError;
use crate::validate::{ANY, check_rules, ensure, starts};
use alloc::vec::Vec;
use core::ops::Range;
use rkyv::{Archive, Serialize};

/// Distinct sets of PUs. `first` and `count` have the runs of all sets. `start` has the first run
/// of each set, and their number; it is empty if each set has one run.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct PuSets {
    pub start: Column,
    pub first: Column,
    pub count: Column,
}

impl PuSets {
    /// Packs sets. The runs of a set ascend, and there is a PU between each two of them.
    #[must_use]
    pub fn pack(sets: &[&[Range<u32>]]) -> Self {
        let runs = || sets.iter().copied().flatten();
        let values = |value: fn(&Range<u32>) -> u32| -> Vec<u64> {
            runs().map(|run| u64::from(value(run))).collect()
        };
        let ends = sets.iter().scan(0, |end, set| {
            *end += set.len() as u64;
            Some(*end)
        });
        let start: Vec<u64> = core::iter::once(0).chain(ends).collect();
        let has_starts = sets.iter().any(|set| set.len() != 1);
        Self {
            start: if has_starts { Column::pack(&start) } else { Column::default() },
            first: Column::pack(&values(|run| run.start)),
            count: Column::pack(&values(|run| run.end - run.start)),
        }
    }
}

impl ArchivedPuSets {
    /// Number of sets.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        if self.start.is_empty() { self.first.len() } else { self.start.len() - 1 }
    }

    /// Whether there are no sets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The set in a row.
    #[must_use]
    #[inline]
    pub fn set(&self, row: u32) -> PuSet<'_> {
        let row = row as usize;
        if self.start.is_empty() {
            let run = self.run(row);
            let bounds = (run.start, run.end.saturating_sub(1));
            return PuSet { sets: self, runs: row..row + 1, bounds };
        }
        let end = self.start.get_u32(row + 1) as usize;
        let runs = self.start.get_u32(row) as usize..end;
        let last = self.run(end.saturating_sub(1));
        let bounds = (self.first.get_u32(runs.start), last.end.saturating_sub(1));
        PuSet { sets: self, runs, bounds }
    }

    #[inline]
    fn run(&self, run: usize) -> Range<u32> {
        let first = self.first.get_u32(run);
        first..first.saturating_add(self.count.get_u32(run))
    }

    /// Checks the columns.
    pub(crate) fn validate(&self, most_rows: usize) -> Result<(), ValidationError> {
        let (runs, sets) = (self.first.len(), self.start.len());
        let columns =
            [(&self.start, sets, ANY), (&self.first, runs, WORD), (&self.count, runs, WORD)];
        check_rules(&columns, NAMES, most_rows)?;
        if !self.start.is_empty() {
            starts(&self.start, "job.sets.start", runs)?;
        }
        for row in (0..).take(self.len()) {
            let mut end = 0;
            for run in self.set(row).runs.clone() {
                let (first, count) = (self.first.get(run), self.count.get(run));
                let ascends = count > 0 && (end == 0 || first > end);
                ensure(ascends, "job.sets.first", run, "runs ascend, with a gap between them")?;
                end = first + count;
            }
            ensure(end > 0, "job.sets.start", row as usize, "each set has a PU")?;
        }
        Ok(())
    }

    /// Whether all sets are below a logical index.
    pub(crate) fn is_below(&self, limit: u64) -> bool {
        (0..self.first.len()).all(|run| self.first.get(run) + self.count.get(run) <= limit)
    }
}

/// The names of the columns in a job.
const NAMES: &str = "job.sets.start job.sets.first job.sets.count";

/// The limit of a column of 32-bit values.
const WORD: u64 = 1 << 32;

/// A set of PUs in a table.
#[derive(Clone)]
pub struct PuSet<'a> {
    sets: &'a ArchivedPuSets,
    runs: Range<usize>,
    bounds: (u32, u32),
}

impl PuSet<'_> {
    /// The runs, by ascending logical index.
    #[inline]
    pub fn runs(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.runs.clone().map(|run| self.sets.run(run))
    }

    /// The runs that have a PU from `pu` on.
    pub fn runs_from(&self, pu: u32) -> impl Iterator<Item = Range<u32>> + '_ {
        let (mut from, mut until) = (self.runs.start, self.runs.end);
        while from < until {
            let middle = from.midpoint(until);
            match self.sets.run(middle).end <= pu {
                true => from = middle + 1,
                false => until = middle,
            }
        }
        (from..self.runs.end).map(|run| self.sets.run(run))
    }

    /// The lowest and the highest logical index.
    #[must_use]
    #[inline]
    pub fn bounds(&self) -> (u32, u32) {
        self.bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rkyv::rancor::Error;

    fn archived(sets: &PuSets) -> rkyv::util::AlignedVec {
        rkyv::to_bytes::<Error>(sets).unwrap()
    }

    fn opened(bytes: &[u8]) -> &ArchivedPuSets {
        rkyv::access::<ArchivedPuSets, Error>(bytes).unwrap()
    }

    #[test]
    fn sets_of_one_run_and_of_several_are_read_back() {
        let [one, two, three] = [0..1, 5..9, 3..4].map(|run| [run]);
        let several: &[&[Range<u32>]] = &[&[0..2, 4..5, 70..200], &one];
        for sets in [several, &[&one, &two, &three], &[]] {
            let bytes = archived(&PuSets::pack(sets));
            let packed = opened(&bytes);
            packed.validate(1000).unwrap();
            assert_eq!((packed.len(), packed.is_empty()), (sets.len(), sets.is_empty()));
            for (row, set) in (0..).zip(sets) {
                let read = packed.set(row);
                assert_eq!(read.runs().collect::<Vec<_>>(), set.to_vec());
                assert_eq!(read.bounds(), (set[0].start, set[set.len() - 1].end - 1));
            }
            let end = sets.iter().copied().flatten().map(|run| run.end).max().unwrap_or(0);
            assert!(
                packed.is_below(end.into()) && (end == 0 || !packed.is_below((end - 1).into()))
            );
        }
    }

    #[test]
    fn sets_that_break_a_rule_are_refused_with_that_rule() {
        type Break = fn(&mut PuSets);
        let cases: [(Break, &str); 7] = [
            (|sets| sets.count = Column::pack(&[2, 0, 1]), "runs ascend"),
            (|sets| sets.first = Column::pack(&[4, 0, 7]), "runs ascend"),
            // No gap between two runs.
            (|sets| sets.first = Column::pack(&[0, 2, 7]), "runs ascend"),
            (|sets| sets.start = Column::pack(&[0, 0, 3]), "each set has a PU"),
            (|sets| sets.start = Column::pack(&[0, 1, 2]), "values ascend from 0"),
            (|sets| sets.count = Column::unsound(3), "packing is sound"),
            (|sets| sets.count = Column::pack(&[2, 1]), "has a value for each row"),
        ];
        for (change, rule) in cases {
            let last = 7..8;
            let mut sets = PuSets::pack(&[&[0..2, 4..5], std::slice::from_ref(&last)]);
            change(&mut sets);
            let error = opened(&archived(&sets)).validate(1000).unwrap_err();
            assert!(error.rule.starts_with(rule), "{error}: {rule}");
        }
    }
}
