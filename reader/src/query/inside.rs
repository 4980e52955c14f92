//! Objects whose PUs are all in a set.

use super::objects_of_set::{ObjectsOfSet, Overlap};
use crate::object::Object;
use crate::topology::{Topology, TypeDepth};
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

/// The part of a topology that is inside a set of PUs. Objects without PUs are inside no set.
///
/// ```
/// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
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
    pub(super) topology: Topology<'a>,
    pub(super) set: &'s Set,
}

impl<'a> Topology<'a> {
    /// The part of the topology that is inside a set of PUs.
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
    pub fn objects_at_depth(self, depth: Depth) -> ObjectsOfSet<'a, 's> {
        ObjectsOfSet::new(self.topology, self.set, depth, Overlap::All)
    }

    /// Number of objects of a depth. Counterpart: `hwloc_get_nbobjs_inside_cpuset_by_depth`.
    #[doc(alias = "hwloc_get_nbobjs_inside_cpuset_by_depth")]
    #[must_use]
    pub fn count_at_depth(self, depth: Depth) -> usize {
        self.objects_at_depth(depth).count()
    }

    /// The `index`th object of a depth that is inside. Counterpart:
    /// `hwloc_get_obj_inside_cpuset_by_depth`.
    #[doc(alias = "hwloc_get_obj_inside_cpuset_by_depth")]
    #[must_use]
    pub fn object_at_depth(self, depth: Depth, index: usize) -> Option<Object<'a>> {
        self.objects_at_depth(depth).nth(index)
    }

    /// Objects of a type; none if the type is at several depths, as in hwloc. Counterpart:
    /// `hwloc_get_next_obj_inside_cpuset_by_type`.
    #[doc(alias = "hwloc_get_next_obj_inside_cpuset_by_type")]
    #[must_use]
    pub fn objects_with_type(self, object_type: ObjectType) -> ObjectsOfSet<'a, 's> {
        const NO_DEPTH: Depth = Depth::Normal(u32::MAX);
        let depth = self.topology.type_depth(object_type).depth();
        self.objects_at_depth(depth.unwrap_or(NO_DEPTH))
    }

    /// Number of objects of a type, at all depths. Counterpart:
    /// `hwloc_get_nbobjs_inside_cpuset_by_type`, which returns -1 if the type is at several depths.
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

    /// Position of an object among the objects of its depth that are inside; `None` if it is not
    /// inside. Counterpart: `hwloc_get_obj_index_inside_cpuset`.
    #[doc(alias = "hwloc_get_obj_index_inside_cpuset")]
    #[must_use]
    pub fn index_of(self, object: Object<'a>) -> Option<usize> {
        if !object.is_inside(self.set) {
            return None;
        }
        Some(self.objects_at_depth(object.depth()).before(object).count())
    }
}
