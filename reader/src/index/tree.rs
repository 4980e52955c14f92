//! The tree: parents, rows of children, and PUs of objects.

use super::Index;
use core::ops::Range;
use topobroker_layout::overlay::ArchivedOverlay;

impl Index<'_> {
    /// The parent of an object, `None` for the root.
    #[inline]
    pub(crate) fn parent(&self, id: u32) -> Option<u32> {
        if id == 0 {
            return None;
        }
        Some(match self.is_in_tree() {
            true => self.tree.parent(id),
            false => self.other_parent(id),
        })
    }

    /// Whether parents and children are known to be those of the tree.
    #[inline]
    pub(crate) fn is_in_tree(&self) -> bool {
        self.walks.are_in_tree()
    }

    /// [`Index::parent`] in a view whose objects have moved, and where the tree has not been
    /// checked.
    fn other_parent(&self, id: u32) -> u32 {
        match self.moved() {
            Some(overlay) => overlay.moved.parent_of(overlay.ordinal_of(id)),
            None if self.has_sound_tree() => self.tree.parent(id),
            None => 0,
        }
    }

    /// The overlay of a view whose objects have moved.
    fn moved(&self) -> Option<&ArchivedOverlay> {
        self.overlay.filter(|_| !self.is_in_order)
    }

    /// Whether parents and children can be looked up in the tree. If it has not been checked, it
    /// is.
    pub(crate) fn has_sound_tree(&self) -> bool {
        self.walks.are_in_sound_tree(|| topobroker_layout::tree_is_sound(self.archive))
    }

    /// The object itself, or the normal object that it is attached to.
    pub(crate) fn normal_part(&self, id: u32) -> u32 {
        let mut object = id;
        // The parents of special objects lead into the tree of CPUs.
        while object >= self.first_special {
            match self.parent(object) {
                Some(parent) => object = parent,
                None => break,
            }
        }
        object
    }

    /// Whether an object is `other` or below it.
    pub(crate) fn is_at_or_below(&self, id: u32, other: u32) -> bool {
        core::iter::successors(Some(id), |id| self.parent(*id)).any(|id| id == other)
    }

    /// The child in a row of the child lists, visible or hidden.
    #[inline]
    pub(crate) fn child(&self, row: u32) -> u32 {
        match self.is_in_order {
            true => self.tree.child(row),
            false => self.moved_child(row),
        }
    }

    /// [`Index::child`] in a view whose objects have moved.
    fn moved_child(&self, row: u32) -> u32 {
        self.overlay.map_or(0, |overlay| overlay.moved.children.get_u32(row as usize))
    }

    /// Rows of all children of an object, visible or hidden.
    #[inline]
    pub(crate) fn child_rows(&self, id: u32) -> Range<u32> {
        match self.is_in_tree() {
            true => self.tree.child_rows(id),
            false => self.other_child_rows(id),
        }
    }

    /// [`Index::child_rows`] in a view whose objects have moved, and where the tree has not been
    /// checked.
    fn other_child_rows(&self, id: u32) -> Range<u32> {
        match self.moved() {
            Some(overlay) => overlay.child_rows(overlay.ordinal_of(id)),
            None if self.has_sound_tree() => self.tree.child_rows(id),
            None => 0..0,
        }
    }

    /// Logical indexes in the topology of the PUs of an object, visible or hidden. An I/O or Misc
    /// object has the PUs of the normal object that it is attached to.
    #[inline]
    pub(crate) fn pus_of(&self, id: u32) -> Range<u32> {
        let has_own = id < self.tree.with_pus();
        let member = self.tree.member(if has_own { id } else { self.normal_part(id) });
        member.pu_first..member.pu_first + member.pu_count
    }

    /// [`Index::pus_of`] as a range of visible PUs. Two such ranges are equal, nested or disjoint
    /// exactly if the cpusets are.
    #[inline]
    pub(crate) fn visible_pus_of(&self, id: u32) -> Range<u32> {
        self.visible_run(&self.pus_of(id))
    }

    /// Whether all objects below an object in the tree of CPUs are visible. False also if only a
    /// search would say.
    #[inline]
    pub(crate) fn has_all_below(&self, id: u32) -> bool {
        // Fast path: up to 32 times as fast.
        let Some((start, end)) = self.contiguous.filter(|_| self.is_regular) else { return false };
        let member = self.tree.member(id);
        start <= member.pu_first && member.pu_first + member.pu_count <= end
    }
}
