//! One object: its type and texts, its attributes, its relatives and its sets.

mod attributes;
mod children;
mod cpuset;
mod sets;
mod siblings;
mod type_name;

pub use children::Children;
pub use type_name::TypeName;

use crate::index::Index;
use crate::topology::Topology;
use core::fmt;
use core::ops::Range;
use topobroker_layout::archive::{ArchivedFactsOfObjects, ArchivedStringsOfObjects};
use topobroker_layout::cluster::field::{Field, Property};
use topobroker_layout::column::partition_point;
use topobroker_layout::depth::Depth;
use topobroker_layout::levels::ArchivedLevel;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Format;

/// An object of a topology. Counterpart: `hwloc_obj_t`. This is a handle that can be copied freely.
/// Two handles are equal if they refer to the same object of the same topology, even in different
/// views.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    pub(crate) index: &'a Index<'a>,
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
        self.id == other.id && core::ptr::eq(self.index.archive, other.index.archive)
    }
}

impl Eq for Object<'_> {}

impl<'a> Object<'a> {
    #[inline]
    pub(crate) fn new(index: &'a Index<'a>, id: u32) -> Self {
        Self { index, id }
    }

    /// The topology or the view that this handle belongs to.
    #[must_use]
    pub fn topology(self) -> Topology<'a> {
        Topology::of(self.index)
    }

    /// Number of the object in its topology: level by level, by logical index within a level. It is
    /// the same in every process that has adopted the segment, and in every view.
    #[must_use]
    pub fn id(self) -> u32 {
        self.id
    }

    /// Type. Counterpart: `type`.
    #[must_use]
    #[inline]
    pub fn object_type(self) -> ObjectType {
        self.index.object_type(self.id)
    }

    /// Depth in the tree of CPUs, or the depth of a special type. Counterpart: `depth`.
    #[must_use]
    pub fn depth(self) -> Depth {
        self.index.depth_of(self.id)
    }

    /// Position among the objects of its depth. Counterpart: `logical_index`.
    #[must_use]
    #[inline]
    pub fn logical_index(self) -> u32 {
        let index = self.index;
        let pu = self.id.wrapping_sub(index.pu_ids().start);
        if let Some((start, _)) = index.contiguous
            && pu < index.pu_ids().end - index.pu_ids().start
        {
            return pu.wrapping_sub(start);
        }
        let ordinal = index.ordinal_of(self.id);
        let normal =
            if self.id < index.first_special { index.normal } else { index.levels.len() - 1 };
        let levels = index.levels.iter().take(normal);
        // Most objects are on the lowest levels.
        let level = levels.rev().find(|level| level.first() <= ordinal);
        ordinal - level.map_or(0, ArchivedLevel::first)
    }

    /// Number that no other object of the topology has. Counterpart: `gp_index`.
    #[must_use]
    pub fn gp_index(self) -> u64 {
        let stored = self.index.archive.objects.gp_index.get(self.row());
        self.index.number(|| Field::new(Property::GP_INDEX, self.id, 0), stored)
    }

    /// Name, if the object has one. Counterpart: `name`.
    #[must_use]
    pub fn name(self) -> Option<&'a str> {
        self.string(Property::NAME, &self.index.archive.names)
    }

    /// Whether [`Object::name`] is `name`.
    #[must_use]
    pub fn is_named(self, name: &str) -> bool {
        if self.index.values.is_some() {
            return self.name() == Some(name);
        }
        let row = self.string_row(&self.index.archive.names);
        row.is_some_and(|row| self.index.is_string(row, name))
    }

    /// Subtype, which describes the type more precisely. Counterpart: `subtype`.
    #[must_use]
    pub fn subtype(self) -> Option<&'a str> {
        self.string(Property::SUBTYPE, &self.index.archive.subtypes)
    }

    /// Pairs of name and value. Counterpart: `infos`.
    pub fn infos(self) -> impl ExactSizeIterator<Item = Info<'a>> {
        let infos = &self.index.archive.infos;
        self.info_rows().map(move |row| Info {
            name: self.index.string(infos.name.get_u32(row)),
            value: self.info_value(row),
        })
    }

    /// Value of the first info with this name. Counterpart: `hwloc_obj_get_info_by_name`.
    #[doc(alias = "hwloc_obj_get_info_by_name")]
    #[must_use]
    pub fn info(self, name: &str) -> Option<&'a str> {
        let names = &self.index.archive.infos.name;
        let mut rows = self.info_rows();
        let row = rows.find(|row| self.index.is_string(names.get_u32(*row), name))?;
        Some(self.info_value(row))
    }

    /// What the publisher found out about this object without hwloc, such as the rate of a port:
    /// pairs of name and value. They are in no export.
    pub fn facts(self) -> impl Iterator<Item = Info<'a>> {
        self.index.archive.facts.iter().flat_map(move |facts| {
            self.fact_rows(facts).map(move |row| Info {
                name: self.index.string(facts.name.get_u32(row)),
                value: self.fact_value(facts, row),
            })
        })
    }

    /// Value of the first fact with this name.
    #[must_use]
    pub fn fact(self, name: &str) -> Option<&'a str> {
        let facts = self.index.archive.facts.first()?;
        let mut rows = self.fact_rows(facts);
        let row = rows.find(|row| self.index.is_string(facts.name.get_u32(*row), name))?;
        Some(self.fact_value(facts, row))
    }

    /// The names of facts, then of infos.
    pub(crate) fn text_names(self) -> impl Iterator<Item = &'a str> {
        let archive = self.index.archive;
        let of_facts = archive
            .facts
            .iter()
            .flat_map(move |facts| self.fact_rows(facts).map(move |row| facts.name.get_u32(row)));
        let of_infos = self.info_rows().map(move |row| archive.infos.name.get_u32(row));
        of_facts.chain(of_infos).map(move |row| self.index.string(row))
    }

    /// The value of the first fact, otherwise info, with a name that is wanted. No other value is
    /// looked at.
    pub(crate) fn text_with(self, is_wanted: impl Fn(&str) -> bool) -> Option<&'a str> {
        let place = self.text_names().position(is_wanted)?;
        let facts = self.index.archive.facts.first();
        let rows = facts.map(|facts| self.fact_rows(facts)).unwrap_or_default();
        match (rows.clone().nth(place), facts) {
            (Some(row), Some(facts)) => Some(self.fact_value(facts, row)),
            _ => Some(self.info_value(self.info_rows().nth(place - rows.len())?)),
        }
    }

    /// The rows of infos in their table.
    fn info_rows(self) -> Range<usize> {
        let infos = &self.index.archive.infos;
        // If no object has infos, the table is empty and every start reads as 0.
        let (first, end) = (infos.start.get_u32(self.row()), infos.start.get_u32(self.row() + 1));
        first as usize..end as usize
    }

    fn info_value(self, row: usize) -> &'a str {
        let infos = &self.index.archive.infos;
        let field = || {
            Field::new(Property::INFO_VALUE, self.id, narrow(row) - narrow(self.info_rows().start))
        };
        self.index.text(field, infos.value.get_u32(row))
    }

    /// The rows of facts in their table.
    fn fact_rows(self, facts: &ArchivedFactsOfObjects) -> Range<usize> {
        let end = u32::try_from(facts.object.len()).unwrap_or(u32::MAX);
        let before = |limit: u32| {
            partition_point(0..end, |row| facts.object.get_u32(row as usize) < limit) as usize
        };
        before(self.id)..before(self.id.saturating_add(1))
    }

    fn fact_value(self, facts: &ArchivedFactsOfObjects, row: usize) -> &'a str {
        let first = self.fact_rows(facts).start;
        let field = || Field::new(Property::FACT_VALUE, self.id, narrow(row) - narrow(first));
        self.index.text(field, facts.value.get_u32(row))
    }

    /// The parent, `None` for the root. Counterpart: `parent`.
    #[must_use]
    #[inline]
    pub fn parent(self) -> Option<Self> {
        self.index.parent(self.id).map(|parent| self.with_id(parent))
    }

    /// Another object of the same topology.
    #[inline]
    pub(crate) fn with_id(self, id: u32) -> Self {
        Self::new(self.index, id)
    }

    /// The next object of its depth. Counterpart: `next_cousin`.
    #[must_use]
    pub fn next_cousin(self) -> Option<Self> {
        self.cousin(|place| place.checked_add(1))
    }

    /// The previous object of its depth. Counterpart: `prev_cousin`.
    #[must_use]
    pub fn prev_cousin(self) -> Option<Self> {
        self.cousin(|place| place.checked_sub(1))
    }

    fn cousin(self, step: impl FnOnce(u32) -> Option<u32>) -> Option<Self> {
        let ordinal = self.index.ordinal_of(self.id);
        let level = self.index.visible_levels().level_of(ordinal);
        let ordinals = self.index.level_ordinals(level);
        let next = step(ordinal).filter(|next| ordinals.contains(next))?;
        Some(self.with_id(self.index.id_at(level, next - ordinals.start)))
    }

    /// Logical indexes of the PUs of the object: for a normal object the PUs below it, for a memory
    /// object the PUs of its cpuset, for an I/O or Misc object the PUs of the normal object that it
    /// is attached to. An empty range if it has no PUs. `None` if they are not contiguous, which
    /// only a view that moves objects can cause. [`Object::cpuset`] has the same PUs by OS index.
    #[must_use]
    #[inline]
    pub fn pus(self) -> Option<Range<u32>> {
        let pus = self.index.pus_of(self.id);
        if self.index.is_in_order {
            return Some(self.index.visible_run(&pus));
        }
        let first = self.index.pu_ids().start;
        let visible = pus.filter(|pu| self.index.is_visible(first + pu));
        let indexes = visible.map(|pu| self.with_id(first + pu).logical_index());
        let (lowest, end, count) = indexes.fold((u32::MAX, 0, 0), |(lowest, end, count), pu| {
            (lowest.min(pu), end.max(pu + 1), count + 1)
        });
        match count {
            0 => Some(0..0),
            _ => (end - lowest == count).then_some(lowest..end),
        }
    }

    #[inline]
    fn row(self) -> usize {
        self.id as usize
    }

    /// The object itself, or the normal object that it is attached to.
    pub(crate) fn normal_part(self) -> Self {
        self.with_id(self.index.normal_part(self.id))
    }

    fn string(self, property: Property, table: &ArchivedStringsOfObjects) -> Option<&'a str> {
        let row = self.string_row(table)?;
        Some(self.index.text(|| Field::new(property, self.id, 0), row))
    }

    fn string_row(self, table: &ArchivedStringsOfObjects) -> Option<u32> {
        let row = self.row().checked_sub(table.first.to_native() as usize)?;
        let plus_one = if row < table.string.len() { table.string.get_u32(row) } else { 0 };
        plus_one.checked_sub(1)
    }
}

fn narrow(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

impl Object<'_> {
    /// Whether all subtrees below the object have the same shape. Counterpart: `symmetric_subtree`.
    #[must_use]
    pub fn is_symmetric_subtree(self) -> bool {
        if self.index.overlay.is_some() && self.object_type().is_normal() {
            return self.has_children_alike();
        }
        let symmetric = &self.index.archive.objects.symmetric;
        self.row() < symmetric.len() && symmetric.get(self.row()) != 0
    }

    /// Whether the subtrees of all children are symmetric, and have the same depths and the same
    /// numbers of children all the way down.
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
}

impl fmt::Debug for Object<'_> {
    /// Writes the type, the logical index and the OS indexes of the PUs, such as `Core L#3 {6,7}`;
    /// for an I/O or Misc object the name instead of the PUs, such as `PCI L#0 "mlx5_0"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_type_name(false, f)?;
        write!(f, " L#{}", self.logical_index())?;
        match (self.cpuset(), self.name()) {
            (Some(pus), _) => write!(f, " {{{}}}", pus.to_text(Format::List)),
            (None, Some(name)) => write!(f, " {name:?}"),
            (None, None) => Ok(()),
        }
    }
}
