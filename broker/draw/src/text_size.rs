//! How large the texts in boxes are. Those of a kind have one size, whatever the digits of their
//! indexes are.

use crate::picture::{BoxKind, Look, Units};
use crate::shape::NestedBox;
use std::collections::HashMap;

/// The sizes of texts by what the boxes are: `L2`, `Core`, `PU`.
#[derive(Default)]
pub(crate) struct TextSizes {
    by_name: HashMap<String, (u32, u32)>,
}

impl TextSizes {
    /// The sizes in a box and in all that is in it.
    pub(crate) fn of(shape: &NestedBox, units: Units) -> Self {
        let mut sizes = Self::default();
        sizes.collect(shape, units);
        sizes
    }

    fn collect(&mut self, shape: &NestedBox, units: Units) {
        if let Some(name) = name(&shape.look) {
            let own = size(&shape.look, units, true);
            let all = self.by_name.entry(name.to_owned()).or_default();
            *all = (all.0.max(own.0), all.1.max(own.1));
        }
        shape.parts().for_each(|part| self.collect(part, units));
    }

    /// Width and height of the text of a box.
    pub(crate) fn size(&self, look: &Look, units: Units) -> (u32, u32) {
        let own = size(look, units, false);
        let of_all = name(look).and_then(|name| self.by_name.get(name)).copied().unwrap_or(own);
        (own.0.max(of_all.0), own.1.max(of_all.1))
    }
}

/// What boxes that are alike are called; `None` for those with names of their own, such as devices.
fn name(look: &Look) -> Option<&str> {
    use BoxKind::{Cache, Core, Die, Group, Memory, Package, Pu};
    let has_kind = matches!(look.kind, Group | Package | Die | Cache | Core | Pu | Memory);
    look.text.first().filter(|_| has_kind)?.split([' ', '(']).next()
}

/// The size of a text; without the names of ranks, of which one box may have many.
fn size(look: &Look, units: Units, without_ranks: bool) -> (u32, u32) {
    let counts = |line: &&String| !(without_ranks && line.starts_with("rank "));
    let longest = look.text.iter().filter(counts).map(|line| letters(line)).max().unwrap_or(0);
    let lines = u32::try_from(look.text.len()).unwrap_or(u32::MAX);
    (longest.saturating_mul(units.letter), lines.saturating_mul(units.line))
}

pub(crate) fn letters(line: &str) -> u32 {
    u32::try_from(line.chars().count()).unwrap_or(u32::MAX)
}
