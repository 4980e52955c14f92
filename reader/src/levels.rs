//! Objects of a topology: level by level, by type, by index.

use crate::object::Object;
use crate::search::partition_point;
use crate::topology::{Topology, TypeDepth};
use std::ops::Range;
use topobroker_layout::attributes::Attributes;
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
    #[inline]
    pub fn objects_at_depth(self, depth: i32) -> Objects<'a> {
        self.level_of_depth(depth).map_or(Objects::none(self), |level| self.level(level))
    }

    /// The object at `depth` with `logical_index`. Counterpart: `hwloc_get_obj_by_depth`.
    #[doc(alias = "hwloc_get_obj_by_depth")]
    #[must_use]
    #[inline]
    pub fn object_at_depth(self, depth: i32, logical_index: u32) -> Option<Object<'a>> {
        let level = self.level_of_depth(depth)?;
        let places = self.level_places(level);
        let known = logical_index < places.end - places.start;
        known.then(|| Object::new(self, self.id_at(level, logical_index)))
    }

    /// The objects of a level.
    #[inline]
    pub(crate) fn level(self, level: usize) -> Objects<'a> {
        let places = self.level_places(level);
        match self.first_of_solid(level) {
            Some(first) => Objects::numbered(self, first..first + (places.end - places.start)),
            None => Objects::at(self, places),
        }
    }

    /// Objects of a type, in logical order, depth by depth. Counterpart:
    /// `hwloc_get_next_obj_by_type`, which gives up on types that have several depths.
    #[doc(alias = "hwloc_get_next_obj_by_type")]
    pub fn objects_with_type(self, object_type: ObjectType) -> impl Iterator<Item = Object<'a>> {
        let raw = u64::from(object_type.raw());
        let depths = match self.type_depth(object_type) {
            TypeDepth::Depth(depth) => self.level_of_depth(depth).map(|level| level..level + 1),
            TypeDepth::Unknown => None,
            TypeDepth::Multiple => Some(0..self.depth() as usize),
        };
        let of_type =
            move |level: &usize| self.levels().row(*level).is_some_and(|it| it.raw_type() == raw);
        let levels = depths.into_iter().flatten().filter(of_type);
        levels.flat_map(move |level| self.level(level))
    }

    /// Those objects shown whose numbers are in a range, where nothing moved.
    #[inline]
    pub(crate) fn numbered(self, ids: Range<u32>) -> Objects<'a> {
        match self.seen.overlay {
            None => Objects::numbered(self, ids),
            Some(overlay) => {
                let places = overlay.shown_before(ids.start)..overlay.shown_before(ids.end);
                match places.len() == ids.len() {
                    true => Objects::numbered(self, ids),
                    false => Objects::at(self, places),
                }
            }
        }
    }

    /// The NUMA nodes in logical order.
    #[inline]
    pub(crate) fn numa_nodes(self) -> Objects<'a> {
        match self.seen.overlay {
            None => Objects::numbered(self, self.seen.first_special..self.seen.end_of_nodes),
            Some(_) => self.level(self.seen.normal),
        }
    }

    /// All objects: the depths from the top, then NUMA nodes, memory-side caches, bridges, PCI
    /// devices, OS devices and Misc objects.
    #[must_use]
    pub fn objects(self) -> Objects<'a> {
        let end = u32::try_from(self.object_count()).unwrap_or(u32::MAX);
        match self.seen.overlay {
            None => Objects::numbered(self, 0..end),
            Some(_) => Objects::at(self, 0..end),
        }
    }

    /// The object numbered `id`, as [`Object::id`] gave it; `None` if it is not shown.
    #[must_use]
    pub fn object(self, id: u32) -> Option<Object<'a>> {
        let known = (id as usize) < self.seen.archive.tree.len() && self.shows(id);
        known.then(|| Object::new(self, id))
    }

    /// The depth of a type, or of the first type below it that the topology has. Of a type at
    /// several depths `None`. Counterpart: `hwloc_get_type_or_below_depth`.
    #[doc(alias = "hwloc_get_type_or_below_depth")]
    #[must_use]
    pub fn type_or_below_depth(self, object_type: ObjectType) -> Option<i32> {
        let above = |depth: &i32| {
            self.depth_type(*depth).is_some_and(|kind| kind.order() < object_type.order())
        };
        match self.type_depth(object_type) {
            TypeDepth::Unknown => self.depths().rev().find(above).map(|depth| depth + 1),
            known => known.depth(),
        }
    }

    /// The depth of a type, or of the first type above it that the topology has. Of a type at
    /// several depths `None`. Counterpart: `hwloc_get_type_or_above_depth`.
    #[doc(alias = "hwloc_get_type_or_above_depth")]
    #[must_use]
    pub fn type_or_above_depth(self, object_type: ObjectType) -> Option<i32> {
        let below = |depth: &i32| {
            self.depth_type(*depth).is_some_and(|kind| kind.order() > object_type.order())
        };
        match self.type_depth(object_type) {
            TypeDepth::Unknown => self.depths().find(below).map(|depth| depth - 1),
            known => known.depth(),
        }
    }

    /// The depths of the tree of CPUs from the top.
    fn depths(self) -> Range<i32> {
        0..i32::try_from(self.depth()).unwrap_or(i32::MAX)
    }

    /// Depth of the CPU caches of a level: 1 to 5, and of a kind: 0 unified, 1 data, 2 instruction,
    /// where a unified cache is of any kind; `None` is any kind. Counterpart:
    /// `hwloc_get_cache_type_depth` as it is documented: in hwloc 2.9 it finds no instruction cache.
    #[doc(alias = "hwloc_get_cache_type_depth")]
    #[must_use]
    pub fn cache_depth(self, level: u32, kind: Option<u32>) -> TypeDepth {
        let mut depths = self.depths().filter(|depth| {
            let cache = self.object_at_depth(*depth, 0).map(Object::attributes);
            let fits = |found: u32| found == 0 || kind.is_none_or(|kind| kind == found);
            matches!(cache, Some(Attributes::Cache(cache)) if cache.depth == level && fits(cache.kind))
        });
        match (depths.next(), depths.next()) {
            (None, _) => TypeDepth::Unknown,
            (Some(_), Some(_)) if kind.is_none() => TypeDepth::Multiple,
            (Some(depth), _) => TypeDepth::Depth(depth),
        }
    }

    /// Depth of the groups of a level: 0 of `Group0`, the outermost. Counterpart: a
    /// loop over the depths, and `hwloc_get_type_depth_with_attr` in later versions of hwloc.
    #[must_use]
    pub fn group_depth(self, level: u32) -> Option<i32> {
        self.depths().find(|depth| {
            let group = self.object_at_depth(*depth, 0).map(Object::attributes);
            matches!(group, Some(Attributes::Group(group)) if group.depth == level)
        })
    }

    /// Where the objects are that memory hangs on. Counterpart: `hwloc_get_memory_parents_depth`.
    #[doc(alias = "hwloc_get_memory_parents_depth")]
    #[must_use]
    pub fn memory_parents_depth(self) -> TypeDepth {
        let nodes = self.objects_with_type(ObjectType::NUMANode);
        let mut depths = nodes.map(|node| node.normal_part().depth());
        match depths.next() {
            None => TypeDepth::Unknown,
            Some(depth) if depths.all(|other| other == depth) => TypeDepth::Depth(depth),
            Some(_) => TypeDepth::Multiple,
        }
    }

    /// The PU with an OS index. Counterpart: `hwloc_get_pu_obj_by_os_index`.
    #[doc(alias = "hwloc_get_pu_obj_by_os_index")]
    #[must_use]
    pub fn pu_by_os_index(self, os_index: u32) -> Option<Object<'a>> {
        let logical_index = self.pu_of_os_index(os_index)?;
        Some(self.pu(logical_index)).filter(|pu| self.shows(pu.id()))
    }

    /// The NUMA node with an OS index. Counterpart: `hwloc_get_numanode_obj_by_os_index`.
    #[doc(alias = "hwloc_get_numanode_obj_by_os_index")]
    #[must_use]
    #[inline]
    pub fn numa_node_by_os_index(self, os_index: u32) -> Option<Object<'a>> {
        // Machines number them without gaps and in their order, nearly always.
        let guess = self.seen.first_special.saturating_add(os_index);
        let is_it = guess < self.seen.end_of_nodes && self.os_index_of(guess) == Some(os_index);
        let node = if is_it { guess } else { self.search_numa_node(os_index)? };
        self.shows(node).then(|| Object::new(self, node))
    }

    #[inline(never)]
    fn search_numa_node(self, os_index: u32) -> Option<u32> {
        let order = &self.seen.archive.numa_by_os_index;
        let at = |place: u32| self.seen.first_special + order.get_u32(place as usize);
        let count = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let is_before = |place: u32| self.os_index_of(at(place)) < Some(os_index);
        // What is not there is behind the highest, nearly always.
        if is_before(count.checked_sub(1)?) {
            return None;
        }
        let found = at(partition_point(0..count, is_before));
        (self.os_index_of(found) == Some(os_index)).then_some(found)
    }

    /// OS index of a PU or NUMA node by its number.
    #[inline]
    pub(crate) fn os_index_of(self, id: u32) -> Option<u32> {
        let plus_two = self.seen.archive.objects.os_index.get(id as usize);
        u32::try_from(plus_two.checked_sub(2)?).ok()
    }
}

/// Objects whose places follow each other, in order.
#[derive(Debug, Clone)]
pub struct Objects<'a> {
    topology: Topology<'a>,
    /// Numbers of the objects; if these do not follow each other, places.
    range: Range<u32>,
    by_place: bool,
    /// By place, where nothing moved: no object between the last one given and this is shown.
    next: u32,
}

impl<'a> Objects<'a> {
    #[inline]
    fn numbered(topology: Topology<'a>, ids: Range<u32>) -> Self {
        Self { topology, range: ids, by_place: false, next: 0 }
    }

    fn at(topology: Topology<'a>, places: Range<u32>) -> Self {
        let first = || topology.seen.overlay?.object_at(places.start);
        let next = if places.is_empty() { 0 } else { first().unwrap_or(0) };
        Self { topology, range: places, by_place: true, next }
    }

    #[inline]
    pub(crate) fn none(topology: Topology<'a>) -> Self {
        Self::numbered(topology, 0..0)
    }

    /// Those before an object; nothing has been taken yet.
    pub(crate) fn before(self, object: Object<'a>) -> Self {
        let end = match self.by_place {
            true => self.topology.place_of(object.id()),
            false => object.id(),
        };
        Self { range: self.range.start..end, ..self }
    }

    /// At least those whose numbers are in a range; nothing has been taken yet.
    #[inline]
    pub(crate) fn within(self, ids: &Range<u32>) -> Self {
        if self.by_place {
            return self;
        }
        let start = self.range.start.max(ids.start);
        Self { range: start..self.range.end.min(ids.end).max(start), ..self }
    }

    #[inline]
    fn object(&self, id: u32) -> Object<'a> {
        Object::new(self.topology, id)
    }
}

impl Topology<'_> {
    /// The object at a place, none before it being shown from `next` on. By value, so that an iterator
    /// stays in registers.
    #[inline(never)]
    fn shown_at(self, place: u32, next: u32) -> Option<u32> {
        let overlay = self.seen.overlay?;
        if overlay.has_moved() { overlay.object_at(place) } else { overlay.next_shown(next) }
    }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Object<'a>;

    #[inline]
    fn next(&mut self) -> Option<Object<'a>> {
        let mut id = self.range.next()?;
        if self.by_place {
            id = self.topology.shown_at(id, self.next)?;
            self.next = id + 1;
        }
        Some(self.object(id))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<Object<'a>> {
        let nth = self.range.nth(n)?;
        if !self.by_place {
            return Some(self.object(nth));
        }
        let id = self.topology.seen.overlay?.object_at(nth)?;
        self.next = id + 1;
        Some(self.object(id))
    }
}

impl DoubleEndedIterator for Objects<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let back = self.range.next_back()?;
        let id = if self.by_place { self.topology.seen.overlay?.object_at(back)? } else { back };
        Some(self.object(id))
    }
}

impl ExactSizeIterator for Objects<'_> {}
