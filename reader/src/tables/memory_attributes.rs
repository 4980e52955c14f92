//! Memory attributes: capacity, locality, bandwidth, latency, and those that a platform adds.

use crate::index::Words;
use crate::object::Object;

use crate::topology::Topology;
use topobroker_layout::cluster::field::{Field, Property};
use topobroker_layout::set::Set;

/// Id of the attribute Capacity. Its value is the local memory of a node.
const CAPACITY: usize = 0;
/// Id of the attribute Locality. Its value is the number of PUs of a node.
const LOCALITY: usize = 1;

impl<'a> Topology<'a> {
    /// Memory attributes in the order of their ids. Counterpart: `hwloc_memattr_get_name`.
    #[doc(alias = "hwloc_memattr_get_name")]
    pub fn memory_attributes(self) -> impl ExactSizeIterator<Item = MemoryAttribute<'a>> {
        let count = self.index.archive.memory_attributes.name.len();
        (0..count).map(move |id| MemoryAttribute::new(self, id))
    }

    /// The attribute with a name; case does not matter. Counterpart: `hwloc_memattr_get_by_name`.
    #[doc(alias = "hwloc_memattr_get_by_name")]
    #[must_use]
    pub fn memory_attribute(self, name: &str) -> Option<MemoryAttribute<'a>> {
        self.memory_attributes().find(|attribute| attribute.name().eq_ignore_ascii_case(name))
    }
}

/// An attribute of memory targets. Counterpart: `hwloc_memattr_id_t`.
#[derive(Debug, Clone, Copy)]
pub struct MemoryAttribute<'a> {
    topology: Topology<'a>,
    id: usize,
}

/// A value at one target, from one initiator if the attribute needs one.
#[derive(Debug, Clone)]
pub struct MemoryValue<'a> {
    /// The NUMA node or other object that has the memory.
    pub target: Object<'a>,
    /// The place from which it was measured.
    pub initiator: Initiator<'a>,
    /// The value in bytes, PUs, MiB/s or nanoseconds, depending on the attribute.
    pub value: u64,
}

/// The place from which an attribute was measured. Counterpart: `struct hwloc_location`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Initiator<'a> {
    /// From anywhere.
    None,
    /// From these PUs.
    Cpuset(Set),
    /// From an object.
    Object(Object<'a>),
}

impl<'a> MemoryAttribute<'a> {
    /// hwloc's flag of attributes that need an initiator: `HWLOC_MEMATTR_FLAG_NEED_INITIATOR`.
    pub const NEED_INITIATOR: u64 = 4;

    pub(crate) fn new(topology: Topology<'a>, id: usize) -> Self {
        Self { topology, id }
    }

    /// Number of the attribute: 0 is Capacity, 1 Locality, 2 Bandwidth, 3 Latency.
    #[must_use]
    pub fn id(self) -> usize {
        self.id
    }

    /// Name. Counterpart: `hwloc_memattr_get_name`.
    #[doc(alias = "hwloc_memattr_get_name")]
    #[must_use]
    pub fn name(self) -> &'a str {
        self.topology
            .index
            .string(self.topology.index.archive.memory_attributes.name.get_u32(self.id))
    }

    /// Sum of `HWLOC_MEMATTR_FLAG_*`. Counterpart: `hwloc_memattr_get_flags`.
    #[doc(alias = "hwloc_memattr_get_flags")]
    #[must_use]
    pub fn flags(self) -> u64 {
        self.topology.index.archive.memory_attributes.flags.get(self.id)
    }

    /// Whether values depend on the initiator, which is the place from which memory is used.
    #[must_use]
    pub fn needs_initiator(self) -> bool {
        self.flags() & Self::NEED_INITIATOR != 0
    }

    /// Whether the values follow from the objects themselves and are not stored: Capacity and
    /// Locality.
    #[must_use]
    pub fn is_derived(self) -> bool {
        self.id == CAPACITY || self.id == LOCALITY
    }

    /// All values, target by target. Counterparts: `hwloc_memattr_get_targets`,
    /// `hwloc_memattr_get_initiators`, `hwloc_memattr_get_value`.
    #[doc(alias = "hwloc_memattr_get_value")]
    pub fn values(self) -> impl Iterator<Item = MemoryValue<'a>> {
        let table = &self.topology.index.archive.memory_attributes;
        let stored = self.rows().map(move |row| MemoryValue {
            target: Object::new(self.topology.index, table.target.get_u32(row)),
            initiator: self.initiator(row),
            value: self.number(row),
        });
        let (nodes, value) = (self.topology.numa_nodes(), self.derived());
        let derived = nodes.filter(move |_| self.is_derived()).map(move |target| MemoryValue {
            target,
            initiator: Initiator::None,
            value: value(target),
        });
        derived.chain(stored)
    }

    /// The value at a target, from an initiator if the attribute needs one. If `initiator` is an
    /// object, the value must be stored for that object. If it is a set of PUs, the first value
    /// counts whose initiator has all of these PUs. Counterpart: `hwloc_memattr_get_value`.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::{Initiator, ObjectType};
    /// let node = topology.objects_with_type(ObjectType::NUMANode).next().unwrap();
    /// let bandwidth = topology.memory_attribute("Bandwidth").unwrap();
    /// let from_its_pus = Initiator::Cpuset(node.cpuset().unwrap());
    /// println!("{:?} MiB/s", bandwidth.value(node, &from_its_pus));
    /// # Ok::<(), topobroker_reader::AdoptError>(())
    /// ```
    #[doc(alias = "hwloc_memattr_get_value")]
    #[must_use]
    #[inline]
    pub fn value(self, target: Object<'a>, initiator: &Initiator<'a>) -> Option<u64> {
        match self.is_derived() {
            true => self.topology.index.is_numa_node(target.id()).then(|| self.derived()(target)),
            false => self.stored_value(target, initiator),
        }
    }

    fn stored_value(self, target: Object<'a>, initiator: &Initiator<'a>) -> Option<u64> {
        let row = self.rows().find(|row| self.is_value(*row, target, initiator))?;
        Some(self.number(row))
    }

    /// The target with the best value, and that value. Of equal values, the first one is taken.
    /// Counterpart: `hwloc_memattr_get_best_target`.
    #[doc(alias = "hwloc_memattr_get_best_target")]
    #[must_use]
    pub fn best_target(self, initiator: &Initiator<'a>) -> Option<(Object<'a>, u64)> {
        let (target, value) = match self.is_derived() {
            true => {
                let derived = self.derived();
                self.best(self.topology.numa_nodes().map(|node| (node.id(), derived(node))))
            }
            false => self.best(self.stored_values(initiator)),
        }?;
        Some((Object::new(self.topology.index, target), value))
    }

    /// Numbers of targets and their values from an initiator. Of several values at a target, only
    /// the first that fits, as in [`MemoryAttribute::value`].
    fn stored_values(self, initiator: &Initiator<'a>) -> impl Iterator<Item = (u32, u64)> {
        let table = &self.topology.index.archive.memory_attributes;
        let mut last = None;
        self.rows().filter_map(move |row| {
            let target = table.target.get_u32(row);
            let node = Object::new(self.topology.index, target);
            let fits = last != Some(target) && self.is_value(row, node, initiator);
            last = if fits { Some(target) } else { last };
            fits.then(|| (target, self.number(row)))
        })
    }

    /// The target with the best value from an initiator, among `targets`. Of equal values, the
    /// first one is taken.
    pub fn best_among(
        self,
        targets: impl Iterator<Item = Object<'a>>,
        initiator: &Initiator<'a>,
    ) -> Option<Object<'a>> {
        let values = targets.filter_map(|target| Some((target, self.value(target, initiator)?)));
        self.best(values).map(|(target, _)| target)
    }

    /// The initiator with the best value at a target, and that value. Of equal values, the first
    /// one is taken. Counterpart: `hwloc_memattr_get_best_initiator`.
    #[doc(alias = "hwloc_memattr_get_best_initiator")]
    #[must_use]
    pub fn best_initiator(self, target: Object<'a>) -> Option<(Initiator<'a>, u64)> {
        let table = &self.topology.index.archive.memory_attributes;
        let at_target = |row: &usize| table.target.get_u32(*row) == target.id();
        let rows = self.rows().filter(|_| self.needs_initiator()).filter(at_target);
        let (row, value) = self.best(rows.map(|row| (row, self.number(row))))?;
        Some((self.initiator(row), value))
    }

    /// hwloc's flag of attributes whose highest value is the best:
    /// `HWLOC_MEMATTR_FLAG_HIGHER_FIRST`.
    pub const HIGHER_FIRST: u64 = 1;

    /// The best of some values, the first of equal ones.
    fn best<T>(self, values: impl Iterator<Item = (T, u64)>) -> Option<(T, u64)> {
        let higher_first = self.flags() & Self::HIGHER_FIRST != 0;
        values.reduce(|best, next| {
            let better = if higher_first { next.1 > best.1 } else { next.1 < best.1 };
            if better { next } else { best }
        })
    }

    /// The stored value in a row.
    fn number(self, row: usize) -> u64 {
        let stored = self.topology.index.archive.memory_attributes.value.get(row);
        let place = u32::try_from(row).unwrap_or(u32::MAX);
        self.topology.index.number(|| Field::new(Property::MEMORY_VALUE, 0, place), stored)
    }

    /// Rows of the stored values of the attribute, without those of hidden objects.
    fn rows(self) -> impl Iterator<Item = usize> + use<'a> {
        let start = |id| self.topology.index.archive.memory_attributes.start.get_u32(id) as usize;
        let rows = start(self.id)..start(self.id + 1);
        rows.filter(move |row| self.topology.index.overlay.is_none() || self.is_visible(*row))
    }

    /// Whether target and initiator of a value are visible.
    fn is_visible(self, row: usize) -> bool {
        let table = &self.topology.index.archive.memory_attributes;
        let initiator = table.initiator.get_u32(row);
        let from = match table.initiator_kind.get(row) {
            0 => true,
            1 => !self.topology.index.visible_part(initiator).is_empty(),
            _ => self.topology.index.is_visible(initiator),
        };
        from && self.topology.index.is_visible(table.target.get_u32(row))
    }

    /// Whether a row has the value at a target from an initiator.
    fn is_value(self, row: usize, target: Object<'a>, initiator: &Initiator<'a>) -> bool {
        let table = &self.topology.index.archive.memory_attributes;
        if table.target.get_u32(row) != target.id() {
            return false;
        }
        let (kind, stored) = (table.initiator_kind.get(row), table.initiator.get_u32(row));
        match initiator {
            _ if !self.needs_initiator() => true,
            Initiator::None => false,
            Initiator::Cpuset(set) => {
                let pus = (kind == 1).then(|| self.topology.index.visible_part(stored));
                !set.is_empty() && pus.is_some_and(|pus| Words::is_included_in(set, &pus))
            }
            Initiator::Object(object) => kind > 1 && object.id() == stored,
        }
    }

    /// A function that returns the value of a node for an attribute without stored values.
    #[inline]
    fn derived(self) -> impl Fn(Object<'a>) -> u64 {
        let memory = self.topology.index.local_memory();
        move |node| match self.id {
            CAPACITY => memory(node.id()),
            _ => node.cpuset_weight().map_or(u64::MAX, u64::from),
        }
    }

    /// The initiator of the value in a row.
    fn initiator(self, row: usize) -> Initiator<'a> {
        let table = &self.topology.index.archive.memory_attributes;
        let value = table.initiator.get_u32(row);
        match table.initiator_kind.get(row) {
            0 => Initiator::None,
            1 => Initiator::Cpuset(self.topology.index.visible_part(value).to_set()),
            _ => Initiator::Object(Object::new(self.topology.index, value)),
        }
    }
}
