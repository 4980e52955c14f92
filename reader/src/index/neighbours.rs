//! Pairs of PUs that tell which objects two sets share.

use super::Index;
use super::words::{Words, low_bits};

impl Index<'_> {
    /// Calls `found` with pairs of visible PUs, one of each set, until it returns true. The cpuset of
    /// an object has PUs of both sets exactly if it has both PUs of one of the pairs, because objects
    /// are runs of PUs. The two PUs of a pair are the same one if it is in both sets.
    pub(crate) fn neighbours(
        &self,
        one: &impl Words,
        other: &impl Words,
        mut found: impl FnMut(u32, u32) -> bool,
    ) {
        let count = self.pu_ids().end - self.pu_ids().start;
        let (start, last) = match self.bounds_of(one).zip(self.bounds_of(other)) {
            Some(((low, high), (start, last))) if high < start || last < low => {
                // Fast path: neighbours-apart.
                let (near, far) = if high < start { (high, start) } else { (low, last) };
                found(near, far);
                return;
            }
            Some(((low, high), (start, last))) => (low.min(start), high.max(last)),
            // One of the sets has no visible PU, or other indexes too.
            None => (0, count.saturating_sub(1)),
        };
        // The PU before the current one, and whether it is of `one`; `None` behind a shared PU.
        let mut before: Option<(u32, bool)> = None;
        for word in start / 64..last / 64 + 1 {
            let (of_one, of_other) = (self.logical_word(one, word), self.logical_word(other, word));
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
}
