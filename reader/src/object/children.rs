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
        let seen = self.topology.seen;
        if self.id >= seen.pus().start {
            // PUs are the last of the tree of CPUs.
            return Children { topology: self.topology, slots: 0..0, all_shown: true };
        }
        let slots = self.normal_slots();
        Children::new(self.topology, slots, || self.has_all_below())
    }

    #[inline]
    fn normal_slots(self) -> Range<u32> {
        let seen = self.topology.seen;
        let slots = if seen.is_in_order { seen.tree.child_slots(self.id) } else { 0..0 };
        // Behind them there is memory, nearly always one node or none.
        let special = |slot: u32| seen.tree.child(slot) >= seen.first_special;
        match slots.end.wrapping_sub(slots.start) {
            1.. if !special(slots.end - 1) => slots,
            2.. if !special(slots.end - 2) => slots.start..slots.end - 1,
            _ => self.search_slots(ChildKind::Normal),
        }
    }

    /// Whether it is known that all objects of the tree of CPUs that are below are shown.
    #[inline]
    pub(crate) fn has_all_below(self) -> bool {
        let seen = self.topology.seen;
        let Some((start, end)) = seen.solid.filter(|_| seen.is_regular) else { return false };
        let member = seen.tree.member(self.id);
        start <= member.pu_first && member.pu_first + member.pu_count <= end
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
        Children::new(self.topology, self.child_slots(), || false)
    }

    /// Children in one of the four lists.
    #[must_use]
    pub fn children_of_kind(self, kind: ChildKind) -> Children<'a> {
        Children::new(self.topology, self.slots_of_kind(kind), || false)
    }

    /// Slots of the children in one of the four lists, shown or not.
    pub(super) fn slots_of_kind(self, kind: ChildKind) -> Range<u32> {
        match kind {
            ChildKind::Normal => self.normal_slots(),
            _ => self.search_slots(kind),
        }
    }

    #[inline(never)]
    fn search_slots(self, kind: ChildKind) -> Range<u32> {
        let all = self.child_slots();
        let first = |kind| self.first_child_of(kind, &all);
        match kind {
            _ if all.is_empty() => all,
            ChildKind::Normal => all.start..first(ChildKind::Memory),
            ChildKind::Memory => first(ChildKind::Memory)..first(ChildKind::Io),
            ChildKind::Io => first(ChildKind::Io)..first(ChildKind::Misc),
            ChildKind::Misc => first(ChildKind::Misc)..all.end,
        }
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
    /// Whether it is known that all are shown and none has moved.
    all_shown: bool,
}

impl<'a> Children<'a> {
    /// `has_all` may know of a part that all are shown.
    #[inline]
    fn new(topology: Topology<'a>, slots: Range<u32>, has_all: impl FnOnce() -> bool) -> Self {
        let all_shown = topology.seen.overlay.is_none()
            || has_all()
            || Self::are_all_shown(topology, slots.start, slots.end);
        Self { topology, slots, all_shown }
    }

    /// Whether the objects in some slots are shown, where nothing moved and that takes one look.
    #[inline(never)]
    fn are_all_shown(topology: Topology<'a>, start: u32, end: u32) -> bool {
        let (seen, count) = (topology.seen, end.wrapping_sub(start));
        let Some(overlay) = seen.overlay.filter(|_| seen.is_in_order) else { return false };
        let are_few = (1..=64).contains(&count);
        let first = seen.tree.child(start);
        // Children of one level follow each other; those of several need not ascend.
        let are_in_a_row =
            are_few && (start..end).zip(first..).all(|(slot, id)| seen.tree.child(slot) == id);
        are_in_a_row && overlay.shown_from(first) | !(u64::MAX >> (64 - count)) == u64::MAX
    }

    /// The first of some slots whose object is shown, with that object, where not all are or some moved; the end if
    /// there is none. By value, so that an iterator stays in registers.
    #[inline(never)]
    fn first_shown(topology: Topology<'a>, start: u32, end: u32) -> (u32, u32) {
        for slot in start..end {
            let child = topology.child(slot);
            if topology.shows(child) {
                return (slot, child);
            }
        }
        (end, 0)
    }

    #[inline]
    fn object(&self, id: u32) -> Object<'a> {
        Object::new(self.topology, id)
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = Object<'a>;

    #[inline]
    fn next(&mut self) -> Option<Object<'a>> {
        if self.slots.is_empty() {
            return None;
        }
        if self.all_shown {
            let slot = self.slots.next()?;
            return Some(self.object(self.topology.seen.tree.child(slot)));
        }
        let Range { start, end } = self.slots;
        let (slot, child) = Self::first_shown(self.topology, start, end);
        self.slots.start = end.min(slot + 1);
        (slot < end).then(|| self.object(child))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = if self.all_shown { self.slots.len() } else { self.clone().count() };
        (count, Some(count))
    }

    fn nth(&mut self, n: usize) -> Option<Object<'a>> {
        if self.all_shown {
            let slot = self.slots.nth(n)?;
            return Some(self.object(self.topology.seen.tree.child(slot)));
        }
        (0..n).try_for_each(|_| self.next().map(|_| ()))?;
        self.next()
    }
}

impl DoubleEndedIterator for Children<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            let child = self.topology.child(self.slots.next_back()?);
            if self.topology.shows(child) {
                return Some(self.object(child));
            }
        }
    }
}

impl ExactSizeIterator for Children<'_> {}
