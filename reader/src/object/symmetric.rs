//! Symmetric subtrees: all subtrees below an object have the same shape.

use super::Object;

impl Object<'_> {
    /// Whether all subtrees below the object have the same shape. Counterpart: `symmetric_subtree`.
    #[must_use]
    pub fn is_symmetric_subtree(self) -> bool {
        if self.index.overlay.is_some() && self.object_type().is_normal() {
            return self.has_children_alike();
        }
        let symmetric = &self.index.archive.objects.symmetric;
        self.row() < symmetric.len() && symmetric.get(self.row()) != 0
    }

    /// Whether the subtrees of all children are symmetric, and have the same depths and the same
    /// numbers of children all the way down.
    fn has_children_alike(self) -> bool {
        let Some(first) = self.children().next() else { return true };
        let alike = |mut one: Self, mut other: Self| loop {
            if one.depth() != other.depth() || one.children().len() != other.children().len() {
                return false;
            }
            match one.children().next().zip(other.children().next()) {
                Some(below) => (one, other) = below,
                None => return true,
            }
        };
        self.children().all(|child| child.has_children_alike() && alike(first, child))
    }
}
