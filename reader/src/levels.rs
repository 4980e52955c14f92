//! Objects of a topology: level by level, by type, by index.

use crate::object::Object;
use crate::search::partition_point;
use crate::topology::{Topology, TypeDepth};
use std::ops::Range;
use topobroker_layout::column::ArchivedColumn;
use topobroker_layout::object_type::ObjectType;

impl<'a> Topology<'a> {
    /// The object at the top. Counterpart: `hwloc_get_root_obj`.
    #[doc(alias = "hwloc_get_root_obj")]
    #[must_use]
    pub fn root(self) -> Object<'a> {
        Object::new(self, 0)
    }

    /// Objects at `depth` in logical order; none if it is no depth. Counterpart:
    /// `hwloc_get_next_obj_by_depth`.
    #[doc(alias = "hwloc_get_next_obj_by_depth")]
    #[must_use]
    pub fn objects_at_depth(self, depth: i32) -> Objects<'a> {
        let ids = self.level_of_depth(depth).map_or(0..0, |level| self.level_ids(level));
        Objects { topology: self, ids }
    }

    /// The object at `depth` with `logical_index`. Counterpart: `hwloc_get_obj_by_depth`.
    #[doc(alias = "hwloc_get_obj_by_depth")]
    #[must_use]
    pub fn object_at_depth(self, depth: i32, logical_index: u32) -> Option<Object<'a>> {
        let ids = self.level_ids(self.level_of_depth(depth)?);
        let id = ids.start.checked_add(logical_index)?;
        (id < ids.end).then(|| Object::new(self, id))
    }

    /// Objects of a type, in logical order, depth by depth. Counterpart:
    /// `hwloc_get_next_obj_by_type`, which gives up on types that have several depths.
    #[doc(alias = "hwloc_get_next_obj_by_type")]
    pub fn objects_with_type(self, object_type: ObjectType) -> impl Iterator<Item = Object<'a>> {
        let types = self.archive.levels.object_type.iter().enumerate();
        types
            .filter(move |(_, raw)| *raw == u64::from(object_type.raw()))
            .flat_map(move |(level, _)| Objects { topology: self, ids: self.level_ids(level) })
    }

    /// All objects: the depths from the top, then NUMA nodes, memory-side caches, bridges, PCI
    /// devices, OS devices and Misc objects.
    #[must_use]
    pub fn objects(self) -> Objects<'a> {
        let end = u32::try_from(self.object_count()).unwrap_or(u32::MAX);
        Objects { topology: self, ids: 0..end }
    }

    /// The object numbered `id`, as [`Object::id`] gave it.
    #[must_use]
    pub fn object(self, id: u32) -> Option<Object<'a>> {
        ((id as usize) < self.object_count()).then(|| Object::new(self, id))
    }

    /// The PU with an OS index. Counterpart: `hwloc_get_pu_obj_by_os_index`.
    #[doc(alias = "hwloc_get_pu_obj_by_os_index")]
    #[must_use]
    pub fn pu_by_os_index(self, os_index: u32) -> Option<Object<'a>> {
        let TypeDepth::Depth(depth) = self.type_depth(ObjectType::PU) else {
            return None;
        };
        self.by_os_index(&self.archive.pu_by_os_index, depth, os_index)
    }

    /// The NUMA node with an OS index. Counterpart: `hwloc_get_numanode_obj_by_os_index`.
    #[doc(alias = "hwloc_get_numanode_obj_by_os_index")]
    #[must_use]
    pub fn numa_node_by_os_index(self, os_index: u32) -> Option<Object<'a>> {
        let depth = ObjectType::NUMANode.special_depth()?;
        self.by_os_index(&self.archive.numa_by_os_index, depth, os_index)
    }

    fn by_os_index(self, order: &ArchivedColumn, depth: i32, os_index: u32) -> Option<Object<'a>> {
        let first = self.level_ids(self.level_of_depth(depth)?).start;
        let at = |place: usize| Object::new(self, first + order.get_u32(place));
        // Machines number without gaps, nearly always: then the index is the place.
        let guess = os_index as usize;
        if guess < order.len() && at(guess).os_index() == Some(os_index) {
            return Some(at(guess));
        }
        let below = |place| at(place).os_index() < Some(os_index);
        let place = partition_point(0..order.len(), below);
        (place < order.len()).then(|| at(place)).filter(|found| found.os_index() == Some(os_index))
    }
}

/// Objects whose numbers follow each other, in order.
#[derive(Debug, Clone)]
pub struct Objects<'a> {
    topology: Topology<'a>,
    ids: Range<u32>,
}

impl<'a> Iterator for Objects<'a> {
    type Item = Object<'a>;

    #[inline]
    fn next(&mut self) -> Option<Object<'a>> {
        self.ids.next().map(|id| Object::new(self.topology, id))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ids.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Object<'a>> {
        self.ids.nth(n).map(|id| Object::new(self.topology, id))
    }
}

impl DoubleEndedIterator for Objects<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.ids.next_back().map(|id| Object::new(self.topology, id))
    }
}

impl ExactSizeIterator for Objects<'_> {}
