//! Siblings: the objects in the same list of children.

use super::Object;
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
            .map_or(0, |[before, _]| before.map(|row| u32::from(self.is_visible(row))).sum())
    }

    /// The next child in its list. Counterpart: `next_sibling`.
    #[must_use]
    pub fn next_sibling(self) -> Option<Self> {
        let [_, mut behind] = self.sides()?;
        behind.find(|row| self.is_visible(*row)).map(|row| self.in_row(row))
    }

    /// The previous child in its list. Counterpart: `prev_sibling`.
    #[must_use]
    pub fn prev_sibling(self) -> Option<Self> {
        let [mut before, _] = self.sides()?;
        before.rfind(|row| self.is_visible(*row)).map(|row| self.in_row(row))
    }

    /// The rows before and after that of the object in its list, visible or hidden; `None` for the
    /// root.
    fn sides(self) -> Option<[Range<u32>; 2]> {
        let parent = self.parent()?;
        let kind = match self.id() < self.index.first_special {
            true => ChildKind::Normal,
            false => self.object_type().child_kind(),
        };
        let rows = parent.rows_of_kind(kind);
        let own = match self.index.is_in_order {
            true => rows.start.saturating_add(self.index.tree.sibling_rank(self.id())),
            false => rows.clone().find(|row| self.index.child(*row) == self.id())?,
        };
        rows.contains(&own).then(|| [rows.start..own, own + 1..rows.end])
    }

    fn is_visible(self, row: u32) -> bool {
        self.index.is_visible(self.index.child(row))
    }

    fn in_row(self, row: u32) -> Self {
        self.with_id(self.index.child(row))
    }
}
