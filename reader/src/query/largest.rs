//! The largest objects inside a set of PUs.

use super::inside::Inside;
use crate::object::Object;
use crate::topology::Topology;
use core::ops::Range;
use topobroker_layout::set::Set;

impl<'a, 's> Inside<'a, 's> {
    /// The largest objects that together have exactly the PUs of the set that are in the topology,
    /// in logical order. Counterpart: `hwloc_get_largest_objs_inside_cpuset`, which fails if the
    /// set has an index that is not in the topology.
    #[doc(alias = "hwloc_get_largest_objs_inside_cpuset")]
    #[must_use]
    pub fn largest(self) -> Largest<'a, 's> {
        // Fast path: up to 8.2 times as fast.
        let first = match self.topology.index.is_plain() {
            true => Next::Pus(0..0),
            false => Next::Object(Some(self.topology.root())),
        };
        Largest { topology: self.topology, set: self.set, next: first }
    }

    /// The first of the largest objects. If the set has a PU of an object, but neither all of its
    /// PUs nor a PU of its children, that object. Counterpart:
    /// `hwloc_get_first_largest_obj_inside_cpuset`.
    #[doc(alias = "hwloc_get_first_largest_obj_inside_cpuset")]
    #[must_use]
    pub fn first_largest(self) -> Option<Object<'a>> {
        // Fast path: up to 7.7 times as fast.
        if self.topology.index.is_plain() {
            let index = self.topology.index;
            let first = index.next_pu_of(self.set, 0)?;
            return Some(Object::new(index, index.largest_inside(self.set, first)));
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

/// Iterator over the largest objects inside a set, in logical order.
#[derive(Debug, Clone)]
pub struct Largest<'a, 's> {
    topology: Topology<'a>,
    set: &'s Set,
    next: Next<'a>,
}

/// The place where the search for the largest objects continues.
#[derive(Debug, Clone)]
enum Next<'a> {
    /// At these PUs of the topology, whose visible ones are all in the set, then at the PUs after
    /// them.
    Pus(Range<u32>),
    /// At this object, depth first, if the index is not plain
    /// ([`Index::is_plain`](crate::index::Index::is_plain)).
    Object(Option<Object<'a>>),
}

impl<'a> Iterator for Largest<'a, '_> {
    type Item = Object<'a>;

    fn next(&mut self) -> Option<Object<'a>> {
        match &self.next {
            Next::Object(next) => self.next_by_sets(*next),
            Next::Pus(pus) => {
                let index = self.topology.index;
                let mut pus = pus.clone();
                let mut first = index.next_visible_pu(pus.start);
                if first >= pus.end {
                    first = index.next_pu_of(self.set, pus.end)?;
                    let end = index.next_pu_not_of(self.set, first);
                    pus = index.first_hidden_before(first)..end.max(first + 1);
                }
                let largest = index.largest_within(&pus, first);
                // Go at least one PU further, so that the loop ends even if the archive is bad.
                let done = index.pus_of(largest).end.max(first + 1);
                self.next = Next::Pus(done.min(pus.end)..pus.end);
                Some(Object::new(index, largest))
            }
        }
    }
}

impl<'a> Largest<'a, '_> {
    /// The next largest object from `from` on, found depth first by comparing sets.
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
