//! Objects whose PUs are all in a set.

use crate::levels::Objects;
use crate::object::Object;
use crate::objects_of_set::{ObjectsOfSet, Part};
use crate::stored_set::Words;
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
    pub fn objects_at_depth(self, depth: i32) -> ObjectsOfSet<'a, 's> {
        ObjectsOfSet::new(self.topology, self.set, depth, Part::All)
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
    pub fn objects_with_type(self, object_type: ObjectType) -> ObjectsOfSet<'a, 's> {
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
        Some(self.objects_at_depth(object.depth()).before(object).count())
    }

    /// The largest objects that together are all PUs of the set that are in the topology, in
    /// logical order. Counterpart: `hwloc_get_largest_objs_inside_cpuset`, which has none where the
    /// set has an index that is not in the topology.
    #[doc(alias = "hwloc_get_largest_objs_inside_cpuset")]
    #[must_use]
    pub fn largest(self) -> Largest<'a, 's> {
        let first = if self.topology.is_plain() {
            Next::Pus(0..0)
        } else {
            Next::Object(Some(self.topology.root()))
        };
        Largest { topology: self.topology, set: self.set, next: first }
    }

    /// The first of the largest objects; where the set has a PU of an object, but neither all of it
    /// nor a PU of its children, that object. Counterpart:
    /// `hwloc_get_first_largest_obj_inside_cpuset`.
    #[doc(alias = "hwloc_get_first_largest_obj_inside_cpuset")]
    #[must_use]
    pub fn first_largest(self) -> Option<Object<'a>> {
        if self.topology.is_plain() {
            let first = self.topology.next_pu_of(self.set, 0)?;
            return Some(self.topology.largest_inside(self.set, first));
        }
        let mut object = self.topology.root();
        if !object.intersects(self.set) {
            return None;
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
    /// Objects of a depth whose PUs and NUMA nodes are all among those of this one, in logical order;
    /// those that have neither are left out. I/O and Misc objects are where they hang: what
    /// hwloc-calc takes for below.
    pub fn objects_within(self, depth: i32) -> impl Iterator<Item = Object<'a>> {
        let topology = self.topology();
        // Elsewhere there may be objects without PUs that have NUMA nodes, in no run of PUs.
        let regular = |level: usize| topology.pus_of_level(level) != 0;
        let nodes = self.stored_nodeset();
        self.of_depth_below(depth, regular).filter(move |object| {
            let place = object.non_io_ancestor();
            let own = place.stored_nodeset();
            let has_nodes = own.is_some_and(|own| !own.is_within(&Set::new()));
            (has_nodes || place.cpuset_weight() != Some(0))
                && place.is_in_subtree(self)
                && own.zip(nodes).is_none_or(|(own, nodes)| own.is_within(&nodes))
        })
    }

    /// Objects of a type whose PUs are all PUs of this one, in logical order; none if the type is at
    /// several depths, as hwloc has it. Counterpart: `hwloc_get_obj_below_by_type`, which takes the
    /// one of an index.
    #[doc(alias = "hwloc_get_obj_below_by_type")]
    pub fn objects_inside(self, object_type: ObjectType) -> impl Iterator<Item = Object<'a>> {
        let topology = self.topology();
        let depth = topology.type_depth(object_type).depth();
        // No depth: nothing.
        let depth = depth.unwrap_or(i32::MAX);
        let own = self.extent();
        self.of_depth_below(depth, |_| topology.is_plain()).filter(move |object| {
            object
                .extent()
                .zip(own.as_ref())
                .is_some_and(|(extent, own)| !extent.is_empty() && extent.is_part_of(own))
        })
    }

    /// Objects of a depth, among them all whose PUs are PUs of this one: only those where the level
    /// of the topology is `in_runs`, and from this one's own depth down all that is inside is below.
    fn of_depth_below(self, depth: i32, in_runs: impl Fn(usize) -> bool) -> Objects<'a> {
        let topology = self.topology();
        let below = self.object_type().is_normal() && depth >= self.depth();
        match topology.base_level_of_depth(depth) {
            Some(level) if below && topology.is_in_order() && in_runs(level) => {
                let ids = topology.objects_of_level_in(level, self.base_pus());
                topology.numbered(ids)
            }
            _ => topology.objects_at_depth(depth),
        }
    }
}

/// The largest objects inside a set, in logical order.
#[derive(Debug, Clone)]
pub struct Largest<'a, 's> {
    topology: Topology<'a>,
    set: &'s Set,
    next: Next<'a>,
}

/// Where the search for the largest objects goes on.
#[derive(Debug, Clone)]
enum Next<'a> {
    /// With these PUs of the topology, those shown all in the set, then those behind them.
    Pus(Range<u32>),
    /// With this object, depth first, where cpusets are more than PUs.
    Object(Option<Object<'a>>),
}

impl<'a> Iterator for Largest<'a, '_> {
    type Item = Object<'a>;

    fn next(&mut self) -> Option<Object<'a>> {
        match &self.next {
            Next::Object(next) => self.next_by_sets(*next),
            Next::Pus(pus) => {
                let topology = self.topology;
                let mut pus = pus.clone();
                let mut first = topology.next_shown_pu(pus.start);
                if first >= pus.end {
                    first = topology.next_pu_of(self.set, pus.end)?;
                    let end = topology.next_pu_not_of(self.set, first);
                    pus = topology.first_hidden_before(first)..end.max(first + 1);
                }
                let largest = topology.largest_within(&pus, first);
                // At least one PU on, so that there is an end.
                let done = largest.base_pus().end.max(first + 1);
                self.next = Next::Pus(done.min(pus.end)..pus.end);
                Some(largest)
            }
        }
    }
}

impl<'a> Largest<'a, '_> {
    fn next_by_sets(&mut self, from: Option<Object<'a>>) -> Option<Object<'a>> {
        let mut next = from;
        while let Some(object) = next {
            let inside = object.is_inside(self.set);
            let child = match inside || !object.intersects(self.set) {
                true => None,
                false => object.children().next(),
            };
            next = child.or_else(|| object.behind_all_below(self.topology.root()));
            if inside {
                self.next = Next::Object(next);
                return Some(object);
            }
        }
        self.next = Next::Object(None);
        None
    }
}
