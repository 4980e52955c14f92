//! Objects that are blocks of as many PUs each, one after the other: which of them a PU is in.

use topobroker_layout::levels::{ArchivedLevel, ArchivedLevels};

/// Whole blocks of `size` before `pu`.
#[inline]
pub(crate) fn blocks(pu: u32, size: u32) -> u32 {
    if size.is_power_of_two() { pu >> size.trailing_zeros() } else { pu / size }
}

/// Bits of the logical indexes of PUs in which two may differ to be looked up: those of 32,768 PUs.
const BITS: usize = 16;

/// In place of a logarithm: the level is not known.
const UNKNOWN: u32 = u32::MAX;

/// The lowest object that two PUs are below or are, where that can be looked up.
#[derive(Clone, Copy)]
pub(crate) struct Common {
    /// For PUs whose logical indexes differ in so many low bits, the lowest level whose blocks hold both, where that is
    /// one of blocks of a power of two: the number of its first object, and the logarithm of their PUs.
    levels: [(u32, u32); BITS],
    /// The lowest object that has all PUs that are shown, and the PUs of each object on the next level.
    top: u32,
    below_top: u32,
}

impl Common {
    /// Of the PUs from `low` to `high`, by their logical indexes.
    pub(crate) fn new(levels: &ArchivedLevels, low: u32, high: u32) -> Self {
        let mut common = Self { levels: [(0, UNKNOWN); BITS], top: 0, below_top: u32::MAX };
        for (bits, (entry, plus_one)) in (0u32..).zip(common.levels.iter_mut().zip(&levels.common))
        {
            let level = usize::from(*plus_one).checked_sub(1).and_then(|level| levels.row(level));
            let holds =
                |row: &&ArchivedLevel| row.pus().is_power_of_two() && row.pus() >> bits != 0;
            if let Some(row) = level.filter(holds) {
                *entry = (row.first(), row.pus().trailing_zeros());
            }
        }
        common.of_run(levels, low, high)
    }

    /// The same of fewer PUs.
    pub(crate) fn of_run(self, levels: &ArchivedLevels, low: u32, high: u32) -> Self {
        let (mut top, mut below_top) = (0, u32::MAX);
        for row in levels.normal_rows().iter().take_while(|row| row.pus() != 0) {
            let block = blocks(low, row.pus());
            if high - block * row.pus() >= row.pus() {
                below_top = row.pus();
                break;
            }
            top = row.first() + block;
        }
        Self { top, below_top, ..self }
    }

    /// The number of the lowest object that two PUs, by their logical indexes, are below or are, if it is known.
    #[inline]
    pub(crate) fn of(&self, one: u32, other: u32) -> Option<u32> {
        let bits = u32::BITS - (one ^ other).leading_zeros();
        let (first, shift) = self.levels.get(bits as usize)?;
        match one.checked_shr(*shift) {
            Some(block) => Some(first + block),
            None => self.is_top(one, other).then_some(self.top),
        }
    }

    /// Whether two PUs are so far from each other that only what has all that are shown has both.
    #[inline]
    pub(crate) fn is_top(&self, one: u32, other: u32) -> bool {
        one.abs_diff(other) >= self.below_top
    }
}
