//! What is above an object.

use crate::index::{block_of, is_within};
use crate::object::Object;
use topobroker_layout::depth::Depth;
use topobroker_layout::levels::ArchivedLevel;
use topobroker_layout::object_type::ObjectType;

impl<'a> Object<'a> {
    /// The objects above, from the parent to the root.
    ///
    /// ```no_run
    /// # let core = topobroker_reader::adopt()?.topology().root();
    /// let path: Vec<String> = core.ancestors().map(|object| object.type_name(false)).collect();
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    pub fn ancestors(self) -> impl Iterator<Item = Self> + Clone {
        std::iter::successors(self.parent(), |object| object.parent())
    }

    /// The object at a depth that this one is below or is, or where its branch of the tree has none,
    /// the next one above; as in hwloc, of an object in the tree of CPUs. Counterpart:
    /// `hwloc_get_ancestor_obj_by_depth`.
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
            let mut path = std::iter::once(self).chain(self.ancestors());
            let may_be_below = self.depth().raw() >= depth.raw();
            return may_be_below.then(|| path.find(|object| ids.contains(&object.id())))?;
        }
        if let Some(found) = self.regular_above(level) {
            return Some(found);
        }
        let below = index.base_ids(level).start..index.first_special;
        below.contains(&self.id()).then(|| self.up_to(level))
    }

    /// [`Object::ancestor_at_depth`] in a view whose objects have moved.
    #[inline(never)]
    fn moved_ancestor_at_depth(self, depth: Depth) -> Option<Self> {
        let mut path = std::iter::once(self).chain(self.ancestors());
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

    /// The object of a level of the topology that this one of the tree of CPUs, on a lower level, is below: by its
    /// first PU, where all objects of the level have as many.
    #[inline]
    fn regular_ancestor(self, level: &ArchivedLevel) -> Option<Self> {
        let (each, member) = (level.pus(), self.index.tree.member(self.id()));
        let above = || self.beside(level.first() + block_of(member.pu_first, each));
        (each != 0 && member.pu_count > 0).then(above)
    }

    /// The same of any object; `None` if it is no object of a lower level, or those of the level have not as many PUs.
    #[inline]
    fn regular_above(self, level: usize) -> Option<Self> {
        let index = self.index;
        let [row, below] = index.base_levels.get(level..)?.first_chunk()?;
        let is_below = (below.first()..index.first_special).contains(&self.id());
        if is_below { self.regular_ancestor(row) } else { None }
    }

    /// The lowest object at a level of the topology or above it that this one of the tree of CPUs is below or is.
    #[inline]
    fn up_to(self, level: usize) -> Self {
        let row = self.index.base_levels.get(level);
        if let Some(above) = row.and_then(|row| self.regular_ancestor(row)) {
            return above;
        }
        let end = self.index.base_ids(level).end;
        let mut object = self;
        // Numbers of parents are lower, and those of a level follow each other.
        while object.id() >= end {
            match object.parent() {
                Some(parent) => object = parent,
                None => break,
            }
        }
        object
    }

    /// The closest object above of a type. Counterpart: `hwloc_get_ancestor_obj_by_type`.
    #[doc(alias = "hwloc_get_ancestor_obj_by_type")]
    #[must_use]
    #[inline]
    pub fn ancestor_with_type(self, object_type: ObjectType) -> Option<Self> {
        let index = self.index;
        // If nothing has moved, the type is at the same level as in the topology. A type at several depths has no row.
        let plus_one = index.archive.levels.depth_of_type.get(usize::from(object_type.raw()));
        let level = usize::from(plus_one.copied().unwrap_or(0).wrapping_sub(1));
        if index.is_in_order
            && let Some(found) = self.regular_above(level)
        {
            return Some(found);
        }
        self.ancestor_with_type_by_walk(object_type)
    }

    /// The same of any object, on any machine.
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
        // What it hangs on may be the object, itself it may not.
        let first = if normal == self { ids.end } else { ids.start };
        let found = (normal.id() >= first).then(|| normal.up_to(level));
        found.filter(|object| ids.contains(&object.id()))
    }

    /// The closest object that is above, or is, an I/O or Misc object and has sets of its own.
    /// Counterpart: `hwloc_get_non_io_ancestor_obj`.
    #[doc(alias = "hwloc_get_non_io_ancestor_obj")]
    #[must_use]
    pub fn non_io_ancestor(self) -> Self {
        let mut object = self;
        // The root is no I/O object.
        while !object.index.has_sets(object.id()) {
            match object.parent() {
                Some(parent) => object = parent,
                None => break,
            }
        }
        object
    }

    /// The lowest object that both are below or are. Counterpart:
    /// `hwloc_get_common_ancestor_obj`, which is only defined in the tree of CPUs; this holds for
    /// memory, I/O and Misc objects too.
    #[doc(alias = "hwloc_get_common_ancestor_obj")]
    #[must_use]
    #[inline]
    pub fn common_ancestor(self, other: Self) -> Self {
        let pus = self.index.pu_ids();
        let [one, two] = [self, other].map(|object| object.id().wrapping_sub(pus.start));
        if self.index.is_in_order && one.max(two) < pus.end - pus.start {
            return self.beside(self.index.lowest_with(one, two));
        }
        self.common_ancestor_by_walk(other)
    }

    /// The same of any two objects.
    #[inline(never)]
    fn common_ancestor_by_walk(self, other: Self) -> Self {
        let (mut one, mut two) = (self.normal_part(), other.normal_part());
        if one == two {
            // Only where both hang on the same object can they meet below it.
            let own = || std::iter::once(self).chain(self.ancestors());
            let theirs = || std::iter::once(other).chain(other.ancestors());
            return own().find(|object| theirs().any(|other| other == *object)).unwrap_or(one);
        }
        // Depth by depth from the bottom: numbers grow with depth, so the higher number is never
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

    /// Whether all PUs of this are PUs of `root`, so that it is at the place of `root` or below. As
    /// in hwloc, I/O and Misc objects are in no subtree; whether `root` is above one, its
    /// [`Object::ancestors`] tell. Counterpart: `hwloc_obj_is_in_subtree`.
    #[doc(alias = "hwloc_obj_is_in_subtree")]
    #[must_use]
    #[inline]
    pub fn is_in_subtree(self, root: Self) -> bool {
        let index = self.index;
        if index.has_runs && index.has_sets(self.id()) && index.has_sets(root.id()) {
            let [own, all] = [self, root].map(|object| index.visible_pus_of(object.id()));
            return is_within(&own, &all);
        }
        let extents = index.extent(self.id()).zip(index.extent(root.id()));
        extents.is_some_and(|(own, all)| own.is_part_of(&all))
    }

    /// The closest cache above that more PUs share. Counterpart:
    /// `hwloc_get_shared_cache_covering_obj`.
    #[doc(alias = "hwloc_get_shared_cache_covering_obj")]
    #[must_use]
    pub fn shared_cache(self) -> Option<Self> {
        let index = self.index;
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
            let regular = object.regular_ancestor(row);
            let cache = regular.unwrap_or_else(|| object.up_to(level));
            let count = match regular.is_some() && index.overlay.is_none() {
                true => row.pus() as usize,
                false => index.visible_pus_of(cache.id()).len(),
            };
            let is_of_level = || index.base_level_of(cache.id()) == level;
            if count != pus.len() && (regular.is_some() || is_of_level()) {
                return Some(cache);
            }
        }
        None
    }
}
