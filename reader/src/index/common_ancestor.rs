//! The lowest common ancestor of two PUs, by lookup. If levels are regular, it follows from the
//! bits in which the logical indexes of the PUs differ.

use super::regular::block_of;
use topobroker_layout::levels::{ArchivedLevel, ArchivedLevels};

/// Length of the lookup table: logical indexes may differ in 0 to 15 low bits, which is enough for
/// 32,768 PUs.
const BITS: usize = 16;

/// Stands for the logarithm of the number of PUs if the table has no level.
const UNKNOWN: u32 = u32::MAX;

/// A lookup of the lowest common ancestor of two PUs.
#[derive(Clone, Copy)]
pub(crate) struct CommonAncestor {
    /// By the number of low bits in which two logical indexes differ: the lowest level at which one
    /// object may have both PUs, if its objects have a power of two of PUs. The pair is the number
    /// of the first object of the level and the binary logarithm of the PUs of each object.
    levels: [(u32, u32); BITS],
    /// Number of the lowest object that has all visible PUs.
    top: u32,
    /// Number of PUs of each object one level below `top`; `u32::MAX` if there is no such level or
    /// it is not regular.
    below_top: u32,
}

impl CommonAncestor {
    /// The lookup for the visible PUs with the logical indexes `low` to `high`.
    pub(crate) fn new(levels: &ArchivedLevels, low: u32, high: u32) -> Self {
        let mut lookup = Self { levels: [(0, UNKNOWN); BITS], top: 0, below_top: u32::MAX };
        for (bits, (entry, plus_one)) in (0u32..).zip(lookup.levels.iter_mut().zip(&levels.common))
        {
            let level = usize::from(*plus_one).checked_sub(1).and_then(|level| levels.row(level));
            let is_large_enough =
                |row: &&ArchivedLevel| row.pus().is_power_of_two() && row.pus() >> bits != 0;
            if let Some(row) = level.filter(is_large_enough) {
                *entry = (row.first(), row.pus().trailing_zeros());
            }
        }
        lookup.of_run(levels, low, high)
    }

    /// This lookup with another range of visible PUs: those with the logical indexes `low` to
    /// `high`.
    pub(crate) fn of_run(self, levels: &ArchivedLevels, low: u32, high: u32) -> Self {
        let (mut top, mut below_top) = (0, u32::MAX);
        for row in levels.normal_rows().iter().take_while(|row| row.pus() != 0) {
            let block = block_of(low, row.pus());
            if high - block * row.pus() >= row.pus() {
                below_top = row.pus();
                break;
            }
            top = row.first() + block;
        }
        Self { top, below_top, ..self }
    }

    /// Number of the lowest common ancestor of two PUs, given by logical index; `None` if the
    /// lookup has no answer.
    #[inline]
    pub(crate) fn of(&self, one: u32, other: u32) -> Option<u32> {
        let bits = u32::BITS - (one ^ other).leading_zeros();
        let (first, shift) = self.levels.get(bits as usize)?;
        match one.checked_shr(*shift) {
            Some(block) => Some(first + block),
            None => self.is_top(one, other).then_some(self.top),
        }
    }

    /// Whether two PUs are too far apart for any object below the top one to have both.
    #[inline]
    pub(crate) fn is_top(&self, one: u32, other: u32) -> bool {
        one.abs_diff(other) >= self.below_top
    }
}
