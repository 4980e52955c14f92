//! Objects of a topology: level by level, by type, by index.

use crate::index::Index;
use crate::object::Object;
use crate::topology::{Topology, TypeDepth};
use core::ops::Range;
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;

impl<'a> Topology<'a> {
    /// The root: the object at the top. Counterpart: `hwloc_get_root_obj`.
    #[doc(alias = "hwloc_get_root_obj")]
    #[must_use]
    pub fn root(self) -> Object<'a> {
        Object::new(self.index, 0)
    }

    /// Objects at `depth` in logical order; none if the topology has no such depth. Counterpart:
    /// `hwloc_get_next_obj_by_depth`.
    #[doc(alias = "hwloc_get_next_obj_by_depth")]
    #[must_use]
    #[inline]
    pub fn objects_at_depth(self, depth: Depth) -> Objects<'a> {
        self.index
            .level_of_depth(depth)
            .map_or(Objects::none(self.index), |level| self.level(level))
    }

    /// The object at `depth` with `logical_index`. Counterpart: `hwloc_get_obj_by_depth`.
    #[doc(alias = "hwloc_get_obj_by_depth")]
    #[must_use]
    #[inline]
    pub fn object_at_depth(self, depth: Depth, logical_index: u32) -> Option<Object<'a>> {
        let level = self.index.level_of_depth(depth)?;
        let ordinals = self.index.level_ordinals(level);
        let known = logical_index < ordinals.end - ordinals.start;
        known.then(|| Object::new(self.index, self.index.id_at(level, logical_index)))
    }

    /// The objects of a level.
    #[inline]
    pub(crate) fn level(self, level: usize) -> Objects<'a> {
        let ordinals = self.index.level_ordinals(level);
        match self.index.first_of_contiguous(level) {
            Some(first) => {
                Objects::numbered(self.index, first..first + (ordinals.end - ordinals.start))
            }
            None => Objects::by_ordinal(self.index, ordinals),
        }
    }

    /// Objects of a type, depth by depth, in logical order within a depth. Counterpart:
    /// `hwloc_get_next_obj_by_type`, which returns none if the type is at several depths.
    #[doc(alias = "hwloc_get_next_obj_by_type")]
    pub fn objects_with_type(self, object_type: ObjectType) -> impl Iterator<Item = Object<'a>> {
        let raw = u64::from(object_type.raw());
        let depths = match self.type_depth(object_type) {
            TypeDepth::Depth(depth) => {
                self.index.level_of_depth(depth).map(|level| level..level + 1)
            }
            TypeDepth::Unknown => None,
            TypeDepth::Multiple => Some(0..self.depth() as usize),
        };
        let of_type = move |level: &usize| {
            self.index.visible_levels().row(*level).is_some_and(|it| it.raw_type() == raw)
        };
        let levels = depths.into_iter().flatten().filter(of_type);
        levels.flat_map(move |level| self.level(level))
    }

    /// The visible objects whose numbers are in a range. No object may have moved.
    #[inline]
    pub(crate) fn numbered(self, ids: Range<u32>) -> Objects<'a> {
        match self.index.overlay {
            None => Objects::numbered(self.index, ids),
            Some(overlay) => {
                let ordinals = overlay.visible_before(ids.start)..overlay.visible_before(ids.end);
                // Fast path: without it, the closest 8 objects of a view take 1.7 times as long as
                // hwloc's.
                match ordinals.len() == ids.len() {
                    true => Objects::numbered(self.index, ids),
                    false => Objects::by_ordinal(self.index, ordinals),
                }
            }
        }
    }

    /// The NUMA nodes in logical order.
    #[inline]
    pub(crate) fn numa_nodes(self) -> Objects<'a> {
        self.level(self.index.normal)
    }

    /// All objects: the depths from the top, then NUMA nodes, memory-side caches, bridges, PCI
    /// devices, OS devices and Misc objects.
    #[must_use]
    pub fn objects(self) -> Objects<'a> {
        let end = u32::try_from(self.object_count()).unwrap_or(u32::MAX);
        match self.index.overlay {
            None => Objects::numbered(self.index, 0..end),
            Some(_) => Objects::by_ordinal(self.index, 0..end),
        }
    }

    /// The object with the number `id`, as returned by [`Object::id`]; `None` if it is not visible.
    #[must_use]
    pub fn object(self, id: u32) -> Option<Object<'a>> {
        let known = (id as usize) < self.index.archive.tree.len() && self.index.is_visible(id);
        known.then(|| Object::new(self.index, id))
    }

    /// The PU with an OS index. Counterpart: `hwloc_get_pu_obj_by_os_index`.
    #[doc(alias = "hwloc_get_pu_obj_by_os_index")]
    #[must_use]
    pub fn pu_by_os_index(self, os_index: u32) -> Option<Object<'a>> {
        let pu = self.index.pu_ids().start + self.index.pu_of_os_index(os_index)?;
        self.index.is_visible(pu).then(|| Object::new(self.index, pu))
    }

    /// The NUMA node with an OS index. Counterpart: `hwloc_get_numanode_obj_by_os_index`.
    #[doc(alias = "hwloc_get_numanode_obj_by_os_index")]
    #[must_use]
    #[inline]
    pub fn numa_node_by_os_index(self, os_index: u32) -> Option<Object<'a>> {
        self.index.numa_node_by_os_index(os_index).map(|node| Object::new(self.index, node))
    }
}

/// Iterator over the objects of a level, or of all levels, in order.
#[derive(Clone)]
pub struct Objects<'a> {
    index: &'a Index<'a>,
    /// Numbers of the objects if they are contiguous, otherwise ordinals.
    range: Range<u32>,
    by_ordinal: bool,
    /// The number from which to look for the next visible object. Only used for ordinals, if no
    /// object has moved.
    next: u32,
}

impl core::fmt::Debug for Objects<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a> Objects<'a> {
    #[inline]
    fn numbered(index: &'a Index<'a>, ids: Range<u32>) -> Self {
        Self { index, range: ids, by_ordinal: false, next: 0 }
    }

    fn by_ordinal(index: &'a Index<'a>, ordinals: Range<u32>) -> Self {
        let first = || index.overlay?.object_at(ordinals.start);
        let next = if ordinals.is_empty() { 0 } else { first().unwrap_or(0) };
        Self { index, range: ordinals, by_ordinal: true, next }
    }

    #[inline]
    pub(crate) fn none(index: &'a Index<'a>) -> Self {
        Self::numbered(index, 0..0)
    }

    /// The objects before `object`, which must be one of them. No object may have been taken yet.
    pub(crate) fn before(self, object: Object<'a>) -> Self {
        let end = match self.by_ordinal {
            true => self.index.ordinal_of(object.id()),
            false => object.id(),
        };
        Self { range: self.range.start..end, ..self }
    }

    /// The objects whose numbers are in a range, and perhaps others. No object may have been taken
    /// yet.
    #[inline]
    pub(crate) fn within(self, ids: &Range<u32>) -> Self {
        if self.by_ordinal {
            return self;
        }
        let start = self.range.start.max(ids.start);
        Self { range: start..self.range.end.min(ids.end).max(start), ..self }
    }

    #[inline]
    fn object(&self, id: u32) -> Object<'a> {
        Object::new(self.index, id)
    }
}

/// The visible object with an ordinal. If no object has moved, it is the first visible one whose
/// number is `next` or higher.
fn object_of_ordinal(index: &Index<'_>, ordinal: u32, next: u32) -> Option<u32> {
    let overlay = index.overlay?;
    // Fast path: up to 7.3 times as fast.
    if overlay.has_moved() { overlay.object_at(ordinal) } else { overlay.next_visible(next) }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Object<'a>;

    #[inline]
    fn next(&mut self) -> Option<Object<'a>> {
        let mut id = self.range.next()?;
        if self.by_ordinal {
            id = object_of_ordinal(self.index, id, self.next)?;
            self.next = id + 1;
        }
        Some(self.object(id))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }

    // How many are left is known without a look at them.
    fn count(self) -> usize {
        self.range.len()
    }

    fn nth(&mut self, n: usize) -> Option<Object<'a>> {
        let nth = self.range.nth(n)?;
        if !self.by_ordinal {
            return Some(self.object(nth));
        }
        let id = self.index.overlay?.object_at(nth)?;
        self.next = id + 1;
        Some(self.object(id))
    }
}

impl DoubleEndedIterator for Objects<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let back = self.range.next_back()?;
        let id = if self.by_ordinal { self.index.overlay?.object_at(back)? } else { back };
        Some(self.object(id))
    }
}

impl ExactSizeIterator for Objects<'_> {}
