//! Objects whose PUs are all in a set.

use crate::object::Object;
use crate::topology::{Topology, TypeDepth};
use std::ops::Range;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

/// The part of a topology that is inside a set of PUs. Objects without PUs are in none.
///
/// ```no_run
/// # let topology = topobroker_reader::adopt()?.topology();
/// use topobroker_reader::{ObjectType, Set};
/// let set: Set = (0..16).collect();
/// let inside = topology.inside(&set);
/// println!("{} whole cores", inside.count_with_type(ObjectType::Core));
/// for object in inside.largest() {
///     println!("{object:?}");
/// }
/// # Ok::<(), topobroker_reader::AdoptError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Inside<'a, 's> {
    topology: Topology<'a>,
    set: &'s Set,
}

impl<'a> Topology<'a> {
    /// What is inside a set of PUs.
    #[must_use]
    pub fn inside<'s>(self, set: &'s Set) -> Inside<'a, 's> {
        Inside { topology: self, set }
    }
}

impl<'a, 's> Inside<'a, 's> {
    /// Objects of a depth, in logical order. Counterpart:
    /// `hwloc_get_next_obj_inside_cpuset_by_depth`.
    #[doc(alias = "hwloc_get_next_obj_inside_cpuset_by_depth")]
    #[must_use]
    pub fn objects_at_depth(self, depth: i32) -> ObjectsInside<'a, 's> {
        let level = self.topology.level_of_depth(depth);
        let ids = level.map_or(0..0, |level| self.topology.level_ids(level));
        let pus = level.map_or(0, |level| self.topology.pus_of_level(level));
        let blocks = pus.is_power_of_two() && pus <= 64;
        let steps = blocks.then_some(Blocks { pus, next_word: 0, whole: 0 });
        ObjectsInside { topology: self.topology, set: self.set, ids, steps }
    }

    /// Number of objects of a depth. Counterpart: `hwloc_get_nbobjs_inside_cpuset_by_depth`.
    #[doc(alias = "hwloc_get_nbobjs_inside_cpuset_by_depth")]
    #[must_use]
    pub fn count_at_depth(self, depth: i32) -> usize {
        self.objects_at_depth(depth).count()
    }

    /// The object of a depth that is the `index`th inside. Counterpart:
    /// `hwloc_get_obj_inside_cpuset_by_depth`.
    #[doc(alias = "hwloc_get_obj_inside_cpuset_by_depth")]
    #[must_use]
    pub fn object_at_depth(self, depth: i32, index: usize) -> Option<Object<'a>> {
        self.objects_at_depth(depth).nth(index)
    }

    /// Objects of a type, none if it is at several depths, as hwloc has it. Counterpart:
    /// `hwloc_get_next_obj_inside_cpuset_by_type`.
    #[doc(alias = "hwloc_get_next_obj_inside_cpuset_by_type")]
    #[must_use]
    pub fn objects_with_type(self, object_type: ObjectType) -> ObjectsInside<'a, 's> {
        // No depth: nothing.
        let depth = self.topology.type_depth(object_type).depth();
        self.objects_at_depth(depth.unwrap_or(i32::MAX))
    }

    /// Number of objects of a type, at whatever depths. Counterpart:
    /// `hwloc_get_nbobjs_inside_cpuset_by_type`, which says -1 of several depths.
    #[doc(alias = "hwloc_get_nbobjs_inside_cpuset_by_type")]
    #[must_use]
    pub fn count_with_type(self, object_type: ObjectType) -> usize {
        match self.topology.type_depth(object_type) {
            TypeDepth::Depth(depth) => self.count_at_depth(depth),
            TypeDepth::Unknown => 0,
            TypeDepth::Multiple => {
                let objects = self.topology.objects_with_type(object_type);
                objects.filter(|object| object.is_inside(self.set)).count()
            }
        }
    }

    /// Place of an object among those of its depth that are inside; `None` if it is not.
    /// Counterpart: `hwloc_get_obj_index_inside_cpuset`.
    #[doc(alias = "hwloc_get_obj_index_inside_cpuset")]
    #[must_use]
    pub fn index_of(self, object: Object<'a>) -> Option<usize> {
        if !object.is_inside(self.set) {
            return None;
        }
        let objects = self.objects_at_depth(object.depth());
        Some(ObjectsInside { ids: objects.ids.start..object.id(), ..objects }.count())
    }

    /// The largest objects that together are all PUs of the set that are in the topology, in
    /// logical order. Counterpart: `hwloc_get_largest_objs_inside_cpuset`, which has none where the
    /// set has an index that is not in the topology.
    #[doc(alias = "hwloc_get_largest_objs_inside_cpuset")]
    #[must_use]
    pub fn largest(self) -> Largest<'a, 's> {
        Largest { set: self.set, next: Some(self.topology.root()) }
    }

    /// The first of the largest objects; where the set has a PU of an object, but neither all of it
    /// nor a PU of its children, that object. Counterpart:
    /// `hwloc_get_first_largest_obj_inside_cpuset`.
    #[doc(alias = "hwloc_get_first_largest_obj_inside_cpuset")]
    #[must_use]
    pub fn first_largest(self) -> Option<Object<'a>> {
        let mut object = self.topology.root();
        if !object.intersects(self.set) {
            return None;
        }
        if self.topology.is_plain() {
            let mut largest = self.topology.pu(self.topology.next_pu_of(self.set, 0)?);
            while let Some(parent) = largest.parent().filter(|parent| parent.is_inside(self.set)) {
                largest = parent;
            }
            return Some(largest);
        }
        while !object.is_inside(self.set) {
            match object.children().find(|child| child.intersects(self.set)) {
                None => break,
                Some(child) => object = child,
            }
        }
        Some(object)
    }
}

impl<'a> Object<'a> {
    /// Objects of a type whose PUs are all PUs of this one, in logical order; none if the type is at
    /// several depths, as hwloc has it. Counterpart: `hwloc_get_obj_below_by_type`, which takes the
    /// one of an index.
    #[doc(alias = "hwloc_get_obj_below_by_type")]
    pub fn objects_inside(self, object_type: ObjectType) -> impl Iterator<Item = Object<'a>> {
        let topology = self.topology();
        let depth = topology.type_depth(object_type).depth();
        let level = depth.and_then(|depth| topology.level_of_depth(depth));
        // From its own depth down, all that is inside is below.
        let below = |level: &usize| {
            let is_below = topology.depth_of_level(*level) >= self.depth();
            topology.is_plain() && self.object_type().is_normal() && is_below
        };
        let ids = match level {
            Some(level) if below(&level) => topology.objects_of_level_in(level, self.pus()),
            Some(level) => topology.level_ids(level),
            None => 0..0,
        };
        let own = self.extent();
        ids.map(move |id| Object::new(topology, id)).filter(move |object| {
            object
                .extent()
                .zip(own.as_ref())
                .is_some_and(|(extent, own)| !extent.is_empty() && extent.is_part_of(own))
        })
    }
}

/// Objects of one depth inside a set, in logical order.
#[derive(Debug, Clone)]
pub struct ObjectsInside<'a, 's> {
    topology: Topology<'a>,
    set: &'s Set,
    ids: Range<u32>,
    /// Where all objects of the depth are blocks of PUs: 64 PUs at a time.
    steps: Option<Blocks>,
}

/// Blocks of a power of two of PUs, 64 PUs at a time.
#[derive(Debug, Clone)]
struct Blocks {
    pus: u32,
    next_word: u32,
    /// First PUs of the whole blocks of the word before the next.
    whole: u64,
}

impl<'a> Iterator for ObjectsInside<'a, '_> {
    type Item = Object<'a>;

    fn next(&mut self) -> Option<Object<'a>> {
        let Some(blocks) = &mut self.steps else {
            let set = self.set;
            let found = |id: &u32| Object::new(self.topology, *id).is_inside(set);
            return self.ids.find(found).map(|id| Object::new(self.topology, id));
        };
        let first_block = |word: u32| self.ids.start + ((word * 64) >> blocks.pus.trailing_zeros());
        while blocks.whole == 0 {
            if first_block(blocks.next_word) >= self.ids.end {
                return None;
            }
            let word = self.topology.logical_word(self.set, blocks.next_word);
            blocks.whole = whole_blocks(word, blocks.pus);
            blocks.next_word += 1;
        }
        let block = blocks.whole.trailing_zeros() >> blocks.pus.trailing_zeros();
        blocks.whole &= blocks.whole - 1;
        let id = first_block(blocks.next_word - 1) + block;
        (id < self.ids.end).then(|| Object::new(self.topology, id))
    }

    fn count(self) -> usize {
        let Some(blocks) = &self.steps else {
            let objects = self.ids.map(|id| Object::new(self.topology, id));
            return objects.filter(|object| object.is_inside(self.set)).count();
        };
        let pus = (self.ids.end - self.ids.start) << blocks.pus.trailing_zeros();
        let words = (blocks.next_word..pus.div_ceil(64)).map(|index| {
            let word = self.topology.logical_word(self.set, index);
            let known = u64::MAX >> 64u32.saturating_sub(pus - index * 64);
            whole_blocks(word, blocks.pus) & known
        });
        words.chain([blocks.whole]).map(|whole| whole.count_ones() as usize).sum()
    }
}

/// First bits of the blocks of `size` bits, a power of two up to 64, that are all set.
#[inline]
fn whole_blocks(word: u64, size: u32) -> u64 {
    let (mut whole, mut width) = (word, 1);
    while width < size {
        whole &= whole >> width;
        width *= 2;
    }
    // A bit at the start of each block.
    whole & (u64::MAX / (u64::MAX >> (64 - size)))
}

/// The largest objects inside a set, in logical order.
#[derive(Debug, Clone)]
pub struct Largest<'a, 's> {
    set: &'s Set,
    /// Where to go on, depth first.
    next: Option<Object<'a>>,
}

impl<'a> Iterator for Largest<'a, '_> {
    type Item = Object<'a>;

    fn next(&mut self) -> Option<Object<'a>> {
        while let Some(object) = self.next {
            let inside = object.is_inside(self.set);
            let child = match inside || !object.intersects(self.set) {
                true => None,
                false => object.children().next(),
            };
            let path = || std::iter::once(object).chain(object.ancestors());
            self.next = child.or_else(|| path().find_map(Object::next_sibling));
            if inside {
                return Some(object);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_blocks_are_those_with_every_bit() {
        for size in [1u32, 2, 4, 8, 16, 32, 64] {
            for word in [0, 1, 0xff, u64::MAX, 0xf0f0_ffff_00ff_ffff, 0xffff_ffff_ffff_fffe] {
                let full = u64::MAX >> (64 - size);
                let whole = (0..64 / size).filter(|block| (word >> (block * size)) & full == full);
                let expected = whole.fold(0u64, |bits, block| bits | (1 << (block * size)));
                assert_eq!(whole_blocks(word, size), expected, "{word:#x} in {size}");
            }
        }
    }
}
