//! Sets of PUs, each as runs of logical indexes. A process is nearly always bound to one run, however
//! the operating system numbers the PUs.

use crate::column::Column;
use crate::error::ValidationError;
use crate::validate::{ANY, check_rules, ensure, starts};
use alloc::vec::Vec;
use core::ops::Range;
use rkyv::{Archive, Serialize};

/// Distinct sets of PUs. `first` and `count` have the runs of all sets. `start` has the first run of
/// each set, and their number; it is empty if each set has one run.
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

    /// Checks the columns. `name` has the names of the three, separated by blanks.
    pub(crate) fn validate(
        &self,
        names: &'static str,
        most_rows: usize,
    ) -> Result<(), ValidationError> {
        let (runs, sets) = (self.first.len(), self.start.len());
        let columns =
            [(&self.start, sets, ANY), (&self.first, runs, WORD), (&self.count, runs, WORD)];
        check_rules(&columns, names, most_rows)?;
        if !self.start.is_empty() {
            starts(&self.start, "sets.start", runs)?;
        }
        for row in (0..).take(self.len()) {
            let mut end = 0;
            for run in self.set(row).runs.clone() {
                let (first, count) = (self.first.get(run), self.count.get(run));
                let ascends = count > 0 && (end == 0 || first > end);
                ensure(ascends, "sets.first", run, "runs ascend, with a gap between them")?;
                end = first + count;
            }
            ensure(end > 0, "sets.start", row as usize, "each set has a PU")?;
        }
        Ok(())
    }

    /// Whether all sets are below a logical index.
    pub(crate) fn is_below(&self, limit: u64) -> bool {
        (0..self.first.len()).all(|run| self.first.get(run) + self.count.get(run) <= limit)
    }
}

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

    /// The lowest and the highest logical index.
    #[must_use]
    #[inline]
    pub fn bounds(&self) -> (u32, u32) {
        self.bounds
    }
}
