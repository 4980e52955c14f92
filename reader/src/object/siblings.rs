//! Siblings: the objects in the same list of children.

use super::object::Object;
use core::ops::Range;
use topobroker_layout::object_type::ChildKind;

impl<'a> Object<'a> {
    /// Position among the children of its parent that are in the same list. Counterpart:
    /// `sibling_rank`.
    #[must_use]
    pub fn sibling_rank(self) -> u32 {
        if self.index.overlay.is_none() {
            return self.index.tree.sibling_rank(self.id());
        }
        self.sides()
            .map_or(0, |[before, _]| before.map(|slot| u32::from(self.is_visible(slot))).sum())
    }

    /// The next child in its list. Counterpart: `next_sibling`.
    #[must_use]
    pub fn next_sibling(self) -> Option<Self> {
        let [_, mut behind] = self.sides()?;
        behind.find(|slot| self.is_visible(*slot)).map(|slot| self.in_slot(slot))
    }

    /// The previous child in its list. Counterpart: `prev_sibling`.
    #[must_use]
    pub fn prev_sibling(self) -> Option<Self> {
        let [mut before, _] = self.sides()?;
        before.rfind(|slot| self.is_visible(*slot)).map(|slot| self.in_slot(slot))
    }

    /// The slots before and after that of the object in its list, visible or hidden; `None` for the
    /// root.
    fn sides(self) -> Option<[Range<u32>; 2]> {
        let parent = self.parent()?;
        let kind = match self.id() < self.index.first_special {
            true => ChildKind::Normal,
            false => self.object_type().child_kind(),
        };
        let slots = parent.slots_of_kind(kind);
        let own = match self.index.is_in_order {
            true => slots.start + self.index.tree.sibling_rank(self.id()),
            false => slots.clone().find(|slot| self.index.child(*slot) == self.id())?,
        };
        Some([slots.start..own, own + 1..slots.end])
    }

    fn is_visible(self, slot: u32) -> bool {
        self.index.is_visible(self.index.child(slot))
    }

    fn in_slot(self, slot: u32) -> Self {
        self.beside(self.index.child(slot))
    }
}
