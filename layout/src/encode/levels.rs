//! Encodes the table of levels.

use super::builder::Builder;
use crate::levels::{BITS, Levels};
use crate::object_type::ObjectType;
use alloc::vec::Vec;

impl Builder<'_> {
    pub(super) fn levels(&self) -> Levels {
        let types = self.level_types();
        let pus = self.pus_of_levels();
        let first = self.level_first.iter().map(|first| u32::try_from(*first).unwrap_or(u32::MAX));
        let levels = Levels::new(&types, &first.collect::<Vec<u32>>(), &pus);
        Levels { common: common_levels(&pus), ..levels }
    }

    fn level_types(&self) -> Vec<ObjectType> {
        let normal = self.level_first.iter().take(self.normal_levels);
        let normal = normal.filter_map(|&first| self.by_id.get(usize::try_from(first).ok()?));
        normal.map(|object| object.object_type).chain(ObjectType::SPECIAL).collect()
    }
}

/// Makes [`Levels::common`]. The row of two PUs is `n` if bit `n - 1` is the highest bit in which
/// their logical indexes differ, and 0 for the same PU. The row has the lowest depth at which both
/// PUs may be below one object, plus one. It is 0 if that depth, or one below it, is not regular.
///
/// If each object of a level has 2^k PUs, both PUs are below one object exactly if `n` is at most
/// k. For any other number of PUs, `n` does not decide it, so both PUs may be below one object.
fn common_levels(pus: &[u32]) -> [u8; BITS] {
    let mut common = [0; BITS];
    for (bits, slot) in (0u32..).zip(&mut common) {
        let may_hold = |pus: u32| !pus.is_power_of_two() || u64::from(pus) > (1 << bits) >> 1;
        let regular = pus.iter().rev().take_while(|pus| **pus != 0);
        if let Some((_, from_below)) = regular.zip(0usize..).find(|(pus, _)| may_hold(**pus)) {
            *slot = u8::try_from(pus.len() - from_below).unwrap_or(0);
        }
    }
    common
}
