//! The children of an object, in hwloc's four lists.

use super::Object;
use crate::index::Index;
use core::ops::Range;
use topobroker_layout::column::partition_point;
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ChildKind;

impl<'a> Object<'a> {
    /// Children in the tree of CPUs. Counterparts: `children`, `arity`.
    #[must_use]
    #[inline]
    pub fn children(self) -> Children<'a> {
        let index = self.index;
        // Fast path: with those of `normal_rows` and `Children::new`. Without them, children take 1.1
        // times as long as hwloc's, and those of a view twice as long.
        if self.id() >= index.pu_ids().start {
            // No normal object is below a PU or a special object.
            return Children { index, rows: 0..0, all_visible: true };
        }
        Children::new(index, self.normal_rows(), || index.has_all_below(self.id()))
    }

    /// Rows of the children in the tree of CPUs, visible or hidden.
    #[inline]
    fn normal_rows(self) -> Range<u32> {
        let index = self.index;
        let rows = if index.is_in_tree() { index.tree.child_rows(self.id()) } else { 0..0 };
        // Memory children come next: nearly always one NUMA node or none.
        let special = |row: u32| index.tree.child(row) >= index.first_special;
        // Fast path: see `children`.
        match rows.end.wrapping_sub(rows.start) {
            1.. if !special(rows.end - 1) => rows,
            2.. if !special(rows.end - 2) => rows.start..rows.end - 1,
            _ => self.search_rows(ChildKind::Normal),
        }
    }

    /// NUMA nodes and memory-side caches. Counterparts: `memory_first_child`, `memory_arity`.
    #[must_use]
    pub fn memory_children(self) -> Children<'a> {
        self.children_of_kind(ChildKind::Memory)
    }

    /// Bridges, PCI and OS devices. Counterparts: `io_first_child`, `io_arity`.
    #[must_use]
    pub fn io_children(self) -> Children<'a> {
        self.children_of_kind(ChildKind::Io)
    }

    /// Misc objects. Counterparts: `misc_first_child`, `misc_arity`.
    #[must_use]
    pub fn misc_children(self) -> Children<'a> {
        self.children_of_kind(ChildKind::Misc)
    }

    /// All children: normal, memory, I/O, then Misc. Counterpart: `hwloc_get_next_child`.
    #[doc(alias = "hwloc_get_next_child")]
    #[must_use]
    pub fn all_children(self) -> Children<'a> {
        Children::new(self.index, self.index.child_rows(self.id()), || false)
    }

    /// Children in one of the four lists.
    #[must_use]
    pub fn children_of_kind(self, kind: ChildKind) -> Children<'a> {
        Children::new(self.index, self.rows_of_kind(kind), || false)
    }

    /// Rows of the children in one of the four lists, visible or hidden.
    pub(super) fn rows_of_kind(self, kind: ChildKind) -> Range<u32> {
        match kind {
            ChildKind::Normal => self.normal_rows(),
            _ => self.search_rows(kind),
        }
    }

    /// [`Object::rows_of_kind`] by binary search.
    fn search_rows(self, kind: ChildKind) -> Range<u32> {
        let all = self.index.child_rows(self.id());
        let first = |kind| self.first_child_of(kind, &all);
        match kind {
            _ if all.is_empty() => all,
            ChildKind::Normal => all.start..first(ChildKind::Memory),
            ChildKind::Memory => first(ChildKind::Memory)..first(ChildKind::Io),
            ChildKind::Io => first(ChildKind::Io)..first(ChildKind::Misc),
            ChildKind::Misc => first(ChildKind::Misc)..all.end,
        }
    }

    /// Row of the first child of a kind among all children of the object. The kinds of children
    /// have the same order as the numbers of objects.
    #[inline]
    fn first_child_of(self, kind: ChildKind, all: &Range<u32>) -> u32 {
        let first_of = |depth: Depth| {
            let levels = &self.index.archive.levels;
            let normal = levels.normal.to_native() as usize;
            depth.level(normal).map_or(0, |level| levels.first(level))
        };
        let first = match kind {
            ChildKind::Normal | ChildKind::Memory => self.index.first_special,
            ChildKind::Io => first_of(Depth::Bridge),
            ChildKind::Misc => first_of(Depth::Misc),
        };
        partition_point(all.clone(), |row| self.index.child(row) < first)
    }
}

/// Iterator over the children of an object in one list, or in all of them, in order.
#[derive(Clone)]
pub struct Children<'a> {
    index: &'a Index<'a>,
    rows: Range<u32>,
    /// Whether all are known to be visible and none has moved.
    all_visible: bool,
}

impl core::fmt::Debug for Children<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a> Children<'a> {
    /// The visible children in `rows`. `has_all` is only called in views; it returns true if all
    /// children are known to be visible.
    #[inline]
    fn new(index: &'a Index<'a>, rows: Range<u32>, has_all: impl FnOnce() -> bool) -> Self {
        // Fast path: see `Object::children`.
        let all_visible = index.overlay.is_none() || has_all();
        Self { index, rows, all_visible }
    }

    /// The first row in `start..end` whose object is visible, and that object; `end` if there is
    /// none.
    fn first_visible(index: &'a Index<'a>, start: u32, end: u32) -> (u32, u32) {
        for row in start..end {
            let child = index.child(row);
            if index.is_visible(child) {
                return (row, child);
            }
        }
        (end, 0)
    }

    #[inline]
    fn object(&self, id: u32) -> Object<'a> {
        Object::new(self.index, id)
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = Object<'a>;

    #[inline]
    fn next(&mut self) -> Option<Object<'a>> {
        if self.rows.is_empty() {
            return None;
        }
        if self.all_visible {
            let row = self.rows.next()?;
            return Some(self.object(self.index.tree.child(row)));
        }
        let Range { start, end } = self.rows;
        let (row, child) = Self::first_visible(self.index, start, end);
        self.rows.start = end.min(row + 1);
        (row < end).then(|| self.object(child))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = if self.all_visible { self.rows.len() } else { self.clone().count() };
        (count, Some(count))
    }
}

impl DoubleEndedIterator for Children<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            let child = self.index.child(self.rows.next_back()?);
            if self.index.is_visible(child) {
                return Some(self.object(child));
            }
        }
    }
}

impl ExactSizeIterator for Children<'_> {}
