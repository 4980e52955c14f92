//! Filters of a description by type. The result is the topology that hwloc would have loaded with
//! the same filters.
//!
//! Counterpart: `hwloc_topology_set_type_filter` before loading the same XML.

mod filters;
mod merge_levels;
mod renumber;
mod tree;

pub use filters::{Filters, is_any_cache};

use topobroker_layout::attributes::Attributes;
use topobroker_layout::description::{Description, Object};
use topobroker_layout::object_type::{ChildKind, ObjectType};
use topobroker_layout::type_filter::TypeFilter;
use tree::{Lists, Tree};

/// Applies filters to a description. The children of a dropped object take its place.
#[must_use]
pub fn filter(description: &Description, filters: &Filters) -> Description {
    let mut tree = Tree { objects: description.objects.clone() };
    let mut lists = Lists::default();
    tree.keep_below(0, filters, &mut lists);
    tree.set_children(0, lists);
    tree.drop_empty_bridges(0, filters, 0);
    tree.drop_empty(0);
    tree.merge_levels(filters);
    tree.finish(description, filters)
}

impl Tree {
    /// Collects the children of `place` that the filters keep, in the order in which hwloc imports
    /// them: memory first.
    ///
    /// If a child is dropped, the normal children are sorted by their PUs, as hwloc does.
    fn keep_below(&mut self, place: usize, filters: &Filters, lists: &mut Lists) {
        let mut dropped = false;
        let order = [ChildKind::Memory, ChildKind::Normal, ChildKind::Io, ChildKind::Misc];
        let children = order.map(|kind| self.children_of_kind(place, kind));
        for child in children.into_iter().flatten() {
            let Some((kind, kept)) =
                self.object(child).map(|object| (object.child_kind(), filters.keeps(object)))
            else {
                continue;
            };
            if kept {
                let mut below = Lists::default();
                self.keep_below(child, filters, &mut below);
                self.set_children(child, below);
                lists.push(kind, child);
            } else {
                dropped = true;
                self.keep_below(child, filters, lists);
            }
        }
        if let (true, [normal, ..]) = (dropped, &mut lists.0) {
            normal.sort_by_key(|child| self.first_pu(*child));
        }
    }

    /// Lowest PU in the complete cpuset of an object; [`u32::MAX`] if it has none.
    fn first_pu(&self, place: usize) -> u32 {
        let sets = self.object(place).and_then(|object| object.sets.as_ref());
        sets.and_then(|sets| sets.complete_cpuset.iter().next()).unwrap_or(u32::MAX)
    }

    /// Drops bridges without I/O children if only important I/O is kept, and sets the depth of all
    /// bridges.
    fn drop_empty_bridges(&mut self, place: usize, filters: &Filters, depth: u32) {
        let mut kept = Vec::new();
        for child in self.children(place) {
            let is_bridge =
                self.object(child).is_some_and(|child| child.object_type == ObjectType::Bridge);
            self.drop_empty_bridges(child, filters, depth + u32::from(is_bridge));
            if let Some(Object { attributes: Attributes::Bridge(bridge), .. }) =
                self.objects.get_mut(child)
            {
                bridge.depth = depth;
            }
            if !self.is_empty_bridge(child, filters) {
                kept.push(child);
            }
        }
        if let Some(object) = self.objects.get_mut(place) {
            object.children = kept;
        }
    }

    fn is_empty_bridge(&self, place: usize, filters: &Filters) -> bool {
        let Some(object) = self.object(place) else {
            return false;
        };
        let bridge = match &object.attributes {
            Attributes::Bridge(_) => true,
            // A PCI device of the class of bridges. An NVSwitch stays, because NVLinks end there.
            Attributes::Pci(pci) => {
                pci.class_id >> 8 == 0x06 && object.subtype.as_deref() != Some("NVSwitch")
            }
            _ => false,
        };
        bridge
            && filters.get(object.object_type) == TypeFilter::Important
            && self.children_of_kind(place, ChildKind::Io).is_empty()
    }

    /// Drops normal objects without PUs and memory objects without NUMA nodes if they have no
    /// children other than Misc objects. Returns whether `place` itself is to be dropped.
    ///
    /// hwloc had kept such objects, whose PUs are not allowed, because of I/O devices that are now
    /// dropped.
    fn drop_empty(&mut self, place: usize) -> bool {
        let mut children = self.children(place);
        children.retain(|child| !self.drop_empty(*child));
        let only_misc = children.iter().all(|child| {
            self.object(*child).is_some_and(|child| child.child_kind() == ChildKind::Misc)
        });
        let Some(object) = self.objects.get_mut(place) else {
            return false;
        };
        object.children = children;
        let is_empty = match (&object.sets, object.child_kind()) {
            (Some(sets), ChildKind::Normal) => sets.cpuset.is_empty(),
            (Some(sets), ChildKind::Memory) => sets.nodeset.is_empty(),
            _ => false,
        };
        is_empty && only_misc && object.parent.is_some()
    }
}
