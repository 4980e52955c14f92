//! Objects whose PUs all belong to another object too.

use super::objects::Objects;
use crate::index::Words;
use crate::object::Object;
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;

impl<'a> Object<'a> {
    /// Objects of a depth whose PUs and NUMA nodes are all among those of this object, in logical
    /// order. Objects with neither are left out. An I/O or Misc object has the PUs and NUMA nodes
    /// of the object that it is attached to. hwloc-calc uses this rule for "below".
    pub fn objects_within(self, depth: Depth) -> impl Iterator<Item = Object<'a>> {
        let index = self.index;
        // On a level that is not regular, an object may have NUMA nodes but no PUs, so no run of
        // PUs contains it.
        let is_regular = |level: usize| index.pus_of_level(level) != 0;
        let nodes = index.nodeset(self.id());
        self.of_depth_below(depth, is_regular).filter(move |object| {
            let place = object.non_io_ancestor();
            let own = index.nodeset(place.id());
            let has_nodes = own.is_some_and(|own| !own.is_empty());
            (has_nodes || place.cpuset_weight() != Some(0))
                && place.is_in_subtree(self)
                && own.zip(nodes).is_none_or(|(own, nodes)| own.is_included_in(&nodes))
        })
    }

    /// Objects of a type whose PUs are all PUs of this object, in logical order; none if the type
    /// is at several depths, as in hwloc. Counterpart: `hwloc_get_obj_below_by_type`, which returns
    /// the object with an index among these.
    #[doc(alias = "hwloc_get_obj_below_by_type")]
    pub fn objects_inside(self, object_type: ObjectType) -> impl Iterator<Item = Object<'a>> {
        let index = self.index;
        let own = index.extent(self.id());
        let depth = self.topology().type_depth(object_type).depth();
        let objects = depth.map(|depth| self.of_depth_below(depth, |_| index.is_plain()));
        objects.into_iter().flatten().filter(move |object| {
            let extents = index.extent(object.id()).zip(own.as_ref());
            extents.is_some_and(|(extent, own)| !extent.is_empty() && extent.is_part_of(own))
        })
    }

    /// Candidates: some objects of a depth, among them all whose PUs are PUs of this object. If
    /// `is_by_runs` is true of the base level, there are fewer candidates: from its own depth down,
    /// the objects inside a normal object are those below it.
    fn of_depth_below(self, depth: Depth, is_by_runs: impl Fn(usize) -> bool) -> Objects<'a> {
        let (topology, index) = (self.topology(), self.index);
        let is_below = match (self.depth(), depth) {
            (Depth::Normal(own), Depth::Normal(depth)) => depth >= own,
            _ => false,
        };
        match index.base_level_of_depth(depth) {
            Some(level) if is_below && index.is_in_order && is_by_runs(level) => {
                topology.numbered(index.objects_of_level_in(level, index.pus_of(self.id())))
            }
            _ => topology.objects_at_depth(depth),
        }
    }
}
