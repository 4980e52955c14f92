//! The children of an object, in hwloc's four lists.

use super::Object;
use crate::search::partition_point;
use crate::topology::Topology;
use std::ops::Range;
use topobroker_layout::object_type::ChildKind;

impl<'a> Object<'a> {
    /// Children in the tree of CPUs. Counterparts: `children`, `arity`.
    #[must_use]
    #[inline]
    pub fn children(self) -> Children<'a> {
        self.children_of_kind(ChildKind::Normal)
    }

    /// NUMA nodes and memory-side caches. Counterparts: `memory_first_child`, `memory_arity`.
    #[must_use]
    pub fn memory_children(self) -> Children<'a> {
        self.children_of_kind(ChildKind::Memory)
    }

    /// Bridges, PCI and OS devices. Counterparts: `io_first_child`, `io_arity`.
    #[must_use]
    pub fn io_children(self) -> Children<'a> {
        self.children_of_kind(ChildKind::Io)
    }

    /// Misc objects. Counterparts: `misc_first_child`, `misc_arity`.
    #[must_use]
    pub fn misc_children(self) -> Children<'a> {
        self.children_of_kind(ChildKind::Misc)
    }

    /// All children: normal, memory, I/O, then Misc. Counterpart: `hwloc_get_next_child`.
    #[doc(alias = "hwloc_get_next_child")]
    #[must_use]
    pub fn all_children(self) -> Children<'a> {
        Children { topology: self.topology, slots: self.child_slots() }
    }

    /// Children in one of the four lists.
    #[must_use]
    #[inline]
    pub fn children_of_kind(self, kind: ChildKind) -> Children<'a> {
        // Below a PU of the tree of CPUs there is nothing of it.
        let all = match kind {
            ChildKind::Normal if self.id >= self.topology.seen.pus().start => 0..0,
            _ => self.child_slots(),
        };
        let slots = match kind {
            _ if all.is_empty() => all,
            ChildKind::Normal => all.start..self.first_child_of(ChildKind::Memory, &all),
            ChildKind::Memory => {
                let first = self.first_child_of(ChildKind::Memory, &all);
                first..self.first_child_of(ChildKind::Io, &all)
            }
            ChildKind::Io => {
                let first = self.first_child_of(ChildKind::Io, &all);
                first..self.first_child_of(ChildKind::Misc, &all)
            }
            ChildKind::Misc => self.first_child_of(ChildKind::Misc, &all)..all.end,
        };
        Children { topology: self.topology, slots }
    }

    /// Where children of a kind begin among all: kinds follow each other as in the numbering.
    #[inline]
    fn first_child_of(self, kind: ChildKind, all: &Range<u32>) -> u32 {
        let levels = &self.topology.seen.archive.levels;
        let normal = levels.normal.to_native() as usize;
        let first = match kind {
            ChildKind::Normal | ChildKind::Memory => self.topology.seen.first_special,
            ChildKind::Io => levels.first(normal + 2),
            ChildKind::Misc => levels.first(normal + 5),
        };
        match all.end.checked_sub(1) {
            Some(last) if self.topology.child(last) < first => all.end,
            _ => partition_point(all.clone(), |slot| self.topology.child(slot) < first),
        }
    }

    #[inline]
    fn child_slots(self) -> Range<u32> {
        match self.topology.is_in_order() {
            true => self.topology.seen.tree.child_slots(self.id),
            false => self.topology.moved_child_slots(self.id),
        }
    }
}

/// Children in one list, in order.
#[derive(Debug, Clone)]
pub struct Children<'a> {
    topology: Topology<'a>,
    slots: Range<u32>,
}

impl<'a> Children<'a> {
    /// The object in a slot, if it is shown.
    #[inline]
    fn at(&self, slot: u32) -> Option<Object<'a>> {
        let child = self.topology.child(slot);
        self.topology.shows(child).then(|| Object::new(self.topology, child))
    }

    fn shown(&self) -> usize {
        self.slots.clone().filter(|slot| self.at(*slot).is_some()).count()
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = Object<'a>;

    #[inline]
    fn next(&mut self) -> Option<Object<'a>> {
        loop {
            let slot = self.slots.next()?;
            if let Some(child) = self.at(slot) {
                return Some(child);
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = match self.topology.seen.overlay {
            None => self.slots.len(),
            Some(_) => self.shown(),
        };
        (count, Some(count))
    }

    fn nth(&mut self, n: usize) -> Option<Object<'a>> {
        if self.topology.seen.overlay.is_none() {
            let slot = self.slots.nth(n)?;
            return self.at(slot);
        }
        (0..n).try_for_each(|_| self.next().map(|_| ()))?;
        self.next()
    }
}

impl DoubleEndedIterator for Children<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            let slot = self.slots.next_back()?;
            if let Some(child) = self.at(slot) {
                return Some(child);
            }
        }
    }
}

impl ExactSizeIterator for Children<'_> {}
