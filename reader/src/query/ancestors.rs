//! The ancestors of an object.

use crate::index::{block_of, is_within};
use crate::object::Object;
use topobroker_layout::depth::Depth;
use topobroker_layout::levels::ArchivedLevel;
use topobroker_layout::object_type::ObjectType;

impl<'a> Object<'a> {
    /// The ancestors, from the parent to the root.
    ///
    /// ```
    /// # let core = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs")).root();
    /// let path: Vec<String> = core.ancestors().map(|object| object.type_name(false)).collect();
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    pub fn ancestors(self) -> impl Iterator<Item = Self> + Clone {
        core::iter::successors(self.parent(), |object| object.parent())
    }

    /// This object or its ancestor at a depth. If its branch of the tree skips a normal depth, the
    /// next object above. As in hwloc, only objects of the tree of CPUs have ancestors at a normal
    /// depth. Counterpart: `hwloc_get_ancestor_obj_by_depth`.
    #[doc(alias = "hwloc_get_ancestor_obj_by_depth")]
    #[must_use]
    #[inline]
    pub fn ancestor_at_depth(self, depth: Depth) -> Option<Self> {
        let index = self.index;
        if !index.is_in_order {
            return self.moved_ancestor_at_depth(depth);
        }
        let level = index.base_level_of_depth(depth)?;
        if depth.normal().is_none() {
            let ids = index.base_ids(level);
            let mut path = core::iter::once(self).chain(self.ancestors());
            let may_be_below = self.depth().raw() >= depth.raw();
            return may_be_below.then(|| path.find(|object| ids.contains(&object.id())))?;
        }
        let below = index.base_ids(level).start..index.first_special;
        below.contains(&self.id()).then(|| self.up_to(level))
    }

    /// [`Object::ancestor_at_depth`] in a view whose objects have moved.
    fn moved_ancestor_at_depth(self, depth: Depth) -> Option<Self> {
        let mut path = core::iter::once(self).chain(self.ancestors());
        let may_be_below = self.depth().raw() >= depth.raw();
        match depth {
            Depth::Normal(depth) => {
                let is_normal = may_be_below && self.object_type().is_normal();
                let is_up = |object: &Self| object.depth().normal().is_some_and(|own| own <= depth);
                is_normal.then(|| path.find(is_up))?
            }
            _ => may_be_below.then(|| path.find(|object| object.depth() == depth))?,
        }
    }

    /// This object or its ancestor on a base level, found by division from the first PU, if the
    /// level is regular and this object has PUs. This object must be of the tree of CPUs, on the
    /// base level or below it.
    #[inline]
    fn regular_ancestor(self, level: &ArchivedLevel) -> Option<Self> {
        let (each, member) = (level.pus(), self.index.tree.member(self.id()));
        let above = || self.with_id(level.first() + block_of(member.pu_first, each));
        // Fast path: without it, an ancestor by type takes 3 times as long as hwloc's.
        (each != 0 && member.pu_count > 0).then(above)
    }

    /// [`Object::regular_ancestor`] for any object and a base level by its number; `None` also if
    /// this object is not on a lower level of the tree of CPUs.
    #[inline]
    fn regular_above(self, level: usize) -> Option<Self> {
        let index = self.index;
        let [row, below] = index.base_levels.get(level..)?.first_chunk()?;
        let is_below = (below.first()..index.first_special).contains(&self.id());
        if is_below { self.regular_ancestor(row) } else { None }
    }

    /// The lowest object among this one and its ancestors that is on a base level or above it. This
    /// object must be of the tree of CPUs, on the base level or below it.
    #[inline]
    fn up_to(self, level: usize) -> Self {
        let row = self.index.base_levels.get(level);
        if let Some(above) = row.and_then(|row| self.regular_ancestor(row)) {
            return above;
        }
        let end = self.index.base_ids(level).end;
        let mut object = self;
        // Parents have lower numbers, and the numbers of a level are contiguous.
        while object.id() >= end {
            match object.parent() {
                Some(parent) => object = parent,
                None => break,
            }
        }
        object
    }

    /// The closest ancestor of a type. Counterpart: `hwloc_get_ancestor_obj_by_type`.
    #[doc(alias = "hwloc_get_ancestor_obj_by_type")]
    #[must_use]
    #[inline]
    pub fn ancestor_with_type(self, object_type: ObjectType) -> Option<Self> {
        let index = self.index;
        // If no object has moved, the type is on the same level as in the topology. A type at
        // several depths has no row.
        let plus_one = index.archive.levels.depth_of_type.get(usize::from(object_type.raw()));
        let level = usize::from(plus_one.copied().unwrap_or(0).wrapping_sub(1));
        // Fast path: up to 6.1 times as fast.
        if index.is_in_order
            && let Some(found) = self.regular_above(level)
        {
            return Some(found);
        }
        self.ancestor_with_type_by_walk(object_type)
    }

    /// [`Object::ancestor_with_type`] for any object, on any machine.
    fn ancestor_with_type_by_walk(self, object_type: ObjectType) -> Option<Self> {
        let topology = self.topology();
        let depth = topology.type_depth(object_type).depth();
        let depth = depth.filter(|_| self.index.is_in_order);
        let Some(level) = depth.and_then(|depth| self.index.base_level_of_depth(depth)) else {
            return self.ancestors().find(|object| object.object_type() == object_type);
        };
        let ids = self.index.base_ids(level);
        if !object_type.is_normal() {
            return self.ancestors().find(|object| ids.contains(&object.id()));
        }
        let normal = self.normal_part();
        // The normal object that this one is attached to may be the answer. The object itself may
        // not.
        let first = if normal == self { ids.end } else { ids.start };
        let found = (normal.id() >= first).then(|| normal.up_to(level));
        found.filter(|object| ids.contains(&object.id()))
    }

    /// This object, or for an I/O or Misc object the closest ancestor that has sets. Counterpart:
    /// `hwloc_get_non_io_ancestor_obj`.
    #[doc(alias = "hwloc_get_non_io_ancestor_obj")]
    #[must_use]
    pub fn non_io_ancestor(self) -> Self {
        let mut object = self;
        // The loop ends at the root, because the root has sets.
        while !object.index.has_sets(object.id()) {
            match object.parent() {
                Some(parent) => object = parent,
                None => break,
            }
        }
        object
    }

    /// The lowest common ancestor. If one of the objects is at or above the other, that object.
    /// Counterpart: `hwloc_get_common_ancestor_obj`, which is only defined in the tree of CPUs.
    /// This function is also defined for memory, I/O and Misc objects.
    #[doc(alias = "hwloc_get_common_ancestor_obj")]
    #[must_use]
    #[inline]
    pub fn common_ancestor(self, other: Self) -> Self {
        let pus = self.index.pu_ids();
        let [one, two] = [self, other].map(|object| object.id().wrapping_sub(pus.start));
        if self.index.is_in_order && one.max(two) < pus.end - pus.start {
            return self.with_id(self.index.lowest_with(one, two));
        }
        self.common_ancestor_by_walk(other)
    }

    /// [`Object::common_ancestor`] of any two objects.
    fn common_ancestor_by_walk(self, other: Self) -> Self {
        let (mut one, mut two) = (self.normal_part(), other.normal_part());
        if one == two {
            // Only objects attached to the same normal object can have a common ancestor below it.
            let own = || core::iter::once(self).chain(self.ancestors());
            let theirs = || core::iter::once(other).chain(other.ancestors());
            return own().find(|object| theirs().any(|other| other == *object)).unwrap_or(one);
        }
        // Climbs from the object with the higher number: numbers grow with depth, so it is never
        // above the other.
        while one != two {
            let lower = if one.id() > two.id() { &mut one } else { &mut two };
            match lower.parent() {
                Some(parent) => *lower = parent,
                None => break,
            }
        }
        one
    }

    /// Whether all PUs of this object are PUs of `root`: whether it is at the same place as `root`
    /// or below. As in hwloc, I/O and Misc objects are in no subtree; [`Object::ancestors`] says
    /// whether they are below `root`. Counterpart: `hwloc_obj_is_in_subtree`.
    #[doc(alias = "hwloc_obj_is_in_subtree")]
    #[must_use]
    #[inline]
    pub fn is_in_subtree(self, root: Self) -> bool {
        let index = self.index;
        // Fast path: without it, a subtree of a view takes 1.1 times as long as hwloc's.
        if index.has_runs && index.has_sets(self.id()) && index.has_sets(root.id()) {
            let [own, all] = [self, root].map(|object| index.visible_pus_of(object.id()));
            return is_within(&own, &all);
        }
        let extents = index.extent(self.id()).zip(index.extent(root.id()));
        extents.is_some_and(|(own, all)| own.is_part_of(&all))
    }

    /// The closest data or unified cache above that has other PUs than this object. `None` for I/O
    /// and Misc objects. Counterpart: `hwloc_get_shared_cache_covering_obj`.
    #[doc(alias = "hwloc_get_shared_cache_covering_obj")]
    #[must_use]
    pub fn shared_cache(self) -> Option<Self> {
        let index = self.index;
        // Fast path: without it, the shared cache of a view takes 1.2 times as long as hwloc's.
        if !index.is_plain() {
            let own = index.extent(self.id())?;
            return self.ancestors().find(|object| {
                object.object_type().is_data_cache()
                    && index.extent(object.id()).is_some_and(|extent| !extent.equals(&own))
            });
        }
        let pus = index.has_sets(self.id()).then(|| index.visible_pus_of(self.id()))?;
        let object = self.normal_part();
        let rows = index.archive.levels.normal_rows().iter().enumerate();
        // The object that a NUMA node is attached to may be the cache.
        let above = rows.rev().skip_while(|(_, row)| row.first() > object.id());
        for (level, row) in above.skip(usize::from(object == self)) {
            if !row.object_type().is_some_and(ObjectType::is_data_cache) {
                continue;
            }
            let cache = object.up_to(level);
            let is_larger = index.visible_pus_of(cache.id()).len() != pus.len();
            if is_larger && index.base_level_of(cache.id()) == level {
                return Some(cache);
            }
        }
        None
    }
}
