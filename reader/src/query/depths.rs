//! Depths of types and their neighbours, of caches, of groups and of memory in the tree of CPUs.

use crate::object::Object;
use crate::topology::{Topology, TypeDepth};
use core::ops::Range;
use topobroker_layout::attributes::{Attributes, CacheKind};
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;

impl Topology<'_> {
    /// The depth of a type, or of the first type below it that the topology has; `None` for a type
    /// at several depths. Counterpart: `hwloc_get_type_or_below_depth`.
    #[doc(alias = "hwloc_get_type_or_below_depth")]
    #[must_use]
    pub fn type_or_below_depth(self, object_type: ObjectType) -> Option<Depth> {
        let above = |depth: &u32| {
            self.depth_type(Depth::Normal(*depth))
                .is_some_and(|kind| kind.order() < object_type.order())
        };
        match self.type_depth(object_type) {
            TypeDepth::Unknown => {
                self.depths().rev().find(above).map(|depth| Depth::Normal(depth + 1))
            }
            known => known.depth(),
        }
    }

    /// The depth of a type, or of the first type above it that the topology has; `None` for a type
    /// at several depths. Counterpart: `hwloc_get_type_or_above_depth`.
    #[doc(alias = "hwloc_get_type_or_above_depth")]
    #[must_use]
    pub fn type_or_above_depth(self, object_type: ObjectType) -> Option<Depth> {
        let below = |depth: &u32| {
            self.depth_type(Depth::Normal(*depth))
                .is_some_and(|kind| kind.order() > object_type.order())
        };
        match self.type_depth(object_type) {
            TypeDepth::Unknown => {
                self.depths().find(below).and_then(|depth| depth.checked_sub(1)).map(Depth::Normal)
            }
            known => known.depth(),
        }
    }

    /// The depths of the tree of CPUs from the top.
    fn depths(self) -> Range<u32> {
        0..self.depth()
    }

    /// Depth of the CPU caches of a level, 1 to 5, and of a kind; `None` is any kind. A unified
    /// cache is of every kind. Counterpart: `hwloc_get_cache_type_depth` as it is documented; the
    /// function itself finds no instruction cache in hwloc 2.9.
    #[doc(alias = "hwloc_get_cache_type_depth")]
    #[must_use]
    pub fn cache_depth(self, level: u32, kind: Option<CacheKind>) -> TypeDepth {
        let mut depths = self.depths().filter(|depth| {
            let cache = self.object_at_depth(Depth::Normal(*depth), 0).map(Object::attributes);
            let fits = |found| found == CacheKind::Unified || kind.is_none_or(|kind| kind == found);
            matches!(cache, Some(Attributes::Cache(cache)) if cache.depth == level && fits(cache.kind))
        });
        match (depths.next(), depths.next()) {
            (None, _) => TypeDepth::Unknown,
            (Some(_), Some(_)) if kind.is_none() => TypeDepth::Multiple,
            (Some(depth), _) => TypeDepth::Depth(Depth::Normal(depth)),
        }
    }

    /// Depth of the groups of a level: 0 is `Group0`, the outermost. Counterpart: a loop over the
    /// depths, and `hwloc_get_type_depth_with_attr` in later versions of hwloc.
    #[must_use]
    pub fn group_depth(self, level: u32) -> Option<Depth> {
        let mut depths = self.depths().map(Depth::Normal);
        depths.find(|depth| {
            let group = self.object_at_depth(*depth, 0).map(Object::attributes);
            matches!(group, Some(Attributes::Group(group)) if group.depth == level)
        })
    }

    /// Depth of the objects that NUMA nodes are attached to. Counterpart:
    /// `hwloc_get_memory_parents_depth`.
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
}
