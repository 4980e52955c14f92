//! One object of a topology, and its neighbours.

mod attributes;
mod children;
mod sets;
mod siblings;

pub use children::Children;

use crate::search::partition_point;
use crate::topology::Topology;
use std::ops::Range;
use topobroker_layout::archive::ArchivedStringsOfObjects;
use topobroker_layout::column::ArchivedColumn;
use topobroker_layout::levels::ArchivedLevel;
use topobroker_layout::object_type::ObjectType;

/// An object of a topology. Counterpart: `hwloc_obj_t`. A handle: copy it freely; two are equal if
/// they are the same object of the same topology, through whatever view.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a> {
    topology: Topology<'a>,
    id: u32,
}

/// A pair of name and value. Counterpart: `struct hwloc_info_s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info<'a> {
    /// Name.
    pub name: &'a str,
    /// Value.
    pub value: &'a str,
}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && std::ptr::eq(self.topology.seen.archive, other.topology.seen.archive)
    }
}

impl Eq for Object<'_> {}

impl<'a> Object<'a> {
    #[inline]
    pub(crate) fn new(topology: Topology<'a>, id: u32) -> Self {
        Self { topology, id }
    }

    /// The topology that the object is of.
    #[must_use]
    pub fn topology(self) -> Topology<'a> {
        self.topology
    }

    /// Number of the object in its topology: level by level, by logical index within. The same
    /// in every process that has adopted the segment, and in every view.
    #[must_use]
    pub fn id(self) -> u32 {
        self.id
    }

    /// Counterpart: `type`.
    #[must_use]
    #[inline]
    pub fn object_type(self) -> ObjectType {
        self.topology
            .seen
            .archive
            .levels
            .object_type(self.base_level())
            .unwrap_or(ObjectType::Machine)
    }

    /// Depth in the tree of CPUs, or the negative depth of a special type. Counterpart: `depth`.
    #[must_use]
    pub fn depth(self) -> i32 {
        self.topology.depth_of_level(self.level())
    }

    /// Place among the objects of its depth. Counterpart: `logical_index`.
    #[must_use]
    #[inline]
    pub fn logical_index(self) -> u32 {
        let seen = self.topology.seen;
        let pu = self.id.wrapping_sub(seen.pus().start);
        if let Some((start, _)) = seen.solid
            && pu < seen.pus().end - seen.pus().start
        {
            return pu.wrapping_sub(start);
        }
        let place = self.topology.place_of(self.id);
        let normal = if self.id < seen.first_special { seen.normal } else { seen.levels.len() - 1 };
        let levels = seen.levels.iter().take(normal);
        // Most objects are on the lowest levels.
        let level = levels.rev().find(|level| level.first() <= place);
        place - level.map_or(0, ArchivedLevel::first)
    }

    /// Number that the operating system gave it. Counterpart: `os_index`.
    #[must_use]
    #[inline]
    pub fn os_index(self) -> Option<u32> {
        match self.topology.seen.archive.objects.os_index.get(self.at()) {
            0 => None,
            1 => self.bus_id(),
            plus_two => u32::try_from(plus_two - 2).ok(),
        }
    }

    /// Number that no other object of the topology has. Counterpart: `gp_index`.
    #[must_use]
    pub fn gp_index(self) -> u64 {
        self.topology.seen.archive.objects.gp_index.get(self.at())
    }

    /// Counterpart: `name`.
    #[must_use]
    pub fn name(self) -> Option<&'a str> {
        self.string(&self.topology.seen.archive.names)
    }

    /// Whether [`Object::name`] is `name`.
    #[must_use]
    pub fn is_named(self, name: &str) -> bool {
        let row = self.string_row(&self.topology.seen.archive.names);
        row.is_some_and(|row| self.topology.is_string(row, name))
    }

    /// Counterpart: `subtype`.
    #[must_use]
    pub fn subtype(self) -> Option<&'a str> {
        self.string(&self.topology.seen.archive.subtypes)
    }

    /// Pairs of name and value. Counterpart: `infos`.
    pub fn infos(self) -> impl ExactSizeIterator<Item = Info<'a>> {
        let infos = &self.topology.seen.archive.infos;
        // Empty if no object has any; then every start reads as 0.
        let rows =
            infos.start.get_u32(self.at()) as usize..infos.start.get_u32(self.at() + 1) as usize;
        rows.map(move |row| Info {
            name: self.topology.string(infos.name.get_u32(row)),
            value: self.topology.string(infos.value.get_u32(row)),
        })
    }

    /// Value of the first info with a name. Counterpart: `hwloc_obj_get_info_by_name`.
    #[doc(alias = "hwloc_obj_get_info_by_name")]
    #[must_use]
    pub fn info(self, name: &str) -> Option<&'a str> {
        self.infos().find(|info| info.name == name).map(|info| info.value)
    }

    /// The object above, `None` of the root. Counterpart: `parent`.
    #[must_use]
    #[inline]
    pub fn parent(self) -> Option<Self> {
        if self.id == 0 {
            return None;
        }
        let parent = match self.topology.is_in_order() {
            true => self.topology.seen.tree.parent(self.id),
            false => self.topology.moved_parent(self.id),
        };
        Some(Self::new(self.topology, parent))
    }

    /// The next object of its depth. Counterpart: `next_cousin`.
    #[must_use]
    pub fn next_cousin(self) -> Option<Self> {
        self.cousin(|place| place.checked_add(1))
    }

    /// The object before it of its depth. Counterpart: `prev_cousin`.
    #[must_use]
    pub fn prev_cousin(self) -> Option<Self> {
        self.cousin(|place| place.checked_sub(1))
    }

    fn cousin(self, step: impl FnOnce(u32) -> Option<u32>) -> Option<Self> {
        let place = self.topology.place_of(self.id);
        let level = self.topology.levels().level_of(place);
        let places = self.topology.level_places(level);
        let next = step(place).filter(|next| places.contains(next))?;
        Some(Self::new(self.topology, self.topology.id_at(level, next - places.start)))
    }

    /// Logical indexes of the PUs of the object, if they follow each other as nearly always: those
    /// below it, of a memory object those of its cpuset, of an I/O or Misc object those of the normal
    /// object that it hangs on.
    #[must_use]
    #[inline]
    pub fn pus(self) -> Range<u32> {
        let pus = self.base_pus();
        if self.topology.is_in_order() {
            return self.topology.shown_run(&pus);
        }
        let topology = self.topology;
        let shown = pus.filter(|pu| topology.shows(topology.pu_ids().start + pu));
        let places = shown.map(|pu| topology.pu(pu).logical_index());
        let (first, count) = places.fold((u32::MAX, 0), |(first, n), pu| (first.min(pu), n + 1));
        if count == 0 { 0..0 } else { first..first + count }
    }

    /// The same in the topology, by the logical indexes there, of PUs that are shown or not.
    #[inline]
    pub(crate) fn base_pus(self) -> Range<u32> {
        let tree = &self.topology.seen.tree;
        let has_own = self.id < tree.with_pus();
        let member = tree.member(if has_own { self.id } else { self.normal_part().id });
        member.pu_first..member.pu_first + member.pu_count
    }

    /// [`Object::base_pus`] as a range of those that are shown, in the topology's order: equal, nested
    /// and apart as the cpusets are.
    #[inline]
    pub(crate) fn shown_run(self) -> Range<u32> {
        self.topology.shown_run(&self.base_pus())
    }

    /// Memory of the NUMA nodes below, in bytes. Counterpart: `total_memory`.
    #[must_use]
    pub fn total_memory(self) -> u64 {
        if self.topology.seen.overlay.is_some() {
            let nodes = self.topology.numa_nodes().filter(|node| node.is_at_or_below(self));
            let memory = self.topology.local_memory();
            return nodes.fold(0, |sum, node| sum.saturating_add(memory(node.id())));
        }
        let table = &self.topology.seen.archive.total_memory;
        rows_of(&table.object, self.id).next().map_or(0, |row| table.bytes.get(row))
    }

    /// Whether all subtrees below are alike. Counterpart: `symmetric_subtree`.
    #[must_use]
    pub fn is_symmetric_subtree(self) -> bool {
        if self.topology.seen.overlay.is_some() && self.object_type().is_normal() {
            return self.has_children_alike();
        }
        self.at() < self.topology.seen.archive.objects.symmetric.len()
            && self.topology.seen.archive.objects.symmetric.get(self.at()) != 0
    }

    fn is_at_or_below(self, other: Self) -> bool {
        self == other || self.ancestors().any(|above| above == other)
    }

    /// Whether the subtrees of all children are symmetric, and have the same depths and numbers of
    /// children all the way down.
    fn has_children_alike(self) -> bool {
        let Some(first) = self.children().next() else { return true };
        let alike = |mut one: Self, mut other: Self| loop {
            if one.depth() != other.depth() || one.children().len() != other.children().len() {
                return false;
            }
            match one.children().next().zip(other.children().next()) {
                Some(below) => (one, other) = below,
                None => return true,
            }
        };
        self.children().all(|child| child.has_children_alike() && alike(first, child))
    }

    #[inline]
    fn at(self) -> usize {
        self.id as usize
    }

    /// Its level among those of what is shown.
    #[inline]
    pub(crate) fn level(self) -> usize {
        self.topology.levels().level_of(self.topology.place_of(self.id))
    }

    /// Its level in the topology.
    #[inline]
    pub(crate) fn base_level(self) -> usize {
        self.topology.seen.archive.levels.level_of(self.id)
    }

    /// The object itself, or the one in the tree of CPUs that it hangs on.
    pub(crate) fn normal_part(self) -> Self {
        let mut object = self;
        // Parents of special objects end in the tree: validation saw to it.
        while object.id >= self.topology.seen.first_special {
            match object.parent() {
                Some(parent) => object = parent,
                None => break,
            }
        }
        object
    }

    fn string(self, table: &ArchivedStringsOfObjects) -> Option<&'a str> {
        Some(self.topology.string(self.string_row(table)?))
    }

    fn string_row(self, table: &ArchivedStringsOfObjects) -> Option<u32> {
        let row = self.at().checked_sub(table.first.to_native() as usize)?;
        let plus_one = if row < table.string.len() { table.string.get_u32(row) } else { 0 };
        plus_one.checked_sub(1)
    }
}

/// Rows of an object in a table that is in the order of its objects.
fn rows_of(objects: &ArchivedColumn, id: u32) -> Range<usize> {
    let count = u32::try_from(objects.len()).unwrap_or(u32::MAX);
    let first = partition_point(0..count, |row| objects.get(row as usize) < u64::from(id)) as usize;
    let mut end = first;
    while end < objects.len() && objects.get_u32(end) == id {
        end += 1;
    }
    first..end
}
