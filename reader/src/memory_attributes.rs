//! Memory attributes: capacity, locality, bandwidth, latency and what a platform adds.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

/// Id of the attribute that follows from the memory of each node.
const CAPACITY: usize = 0;
/// Id of the attribute that follows from the cpuset of each node.
const LOCALITY: usize = 1;

impl<'a> Topology<'a> {
    /// Memory attributes in the order of their ids. Counterpart: `hwloc_memattr_get_name`.
    #[doc(alias = "hwloc_memattr_get_name")]
    pub fn memory_attributes(self) -> impl ExactSizeIterator<Item = MemoryAttribute<'a>> {
        let count = self.archive.memory_attributes.name.len();
        (0..count).map(move |id| MemoryAttribute::new(self, id))
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
    /// Where the memory is.
    pub target: Object<'a>,
    /// From where it was measured.
    pub initiator: Initiator<'a>,
    /// Bytes, PUs, MiB/s or nanoseconds, by the attribute.
    pub value: u64,
}

/// From where an attribute was measured. Counterpart: `struct hwloc_location`.
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

    /// Counterpart: `hwloc_memattr_get_name`.
    #[doc(alias = "hwloc_memattr_get_name")]
    #[must_use]
    pub fn name(self) -> &'a str {
        self.topology.string(self.topology.archive.memory_attributes.name.get_u32(self.id))
    }

    /// Sum of `HWLOC_MEMATTR_FLAG_*`. Counterpart: `hwloc_memattr_get_flags`.
    #[doc(alias = "hwloc_memattr_get_flags")]
    #[must_use]
    pub fn flags(self) -> u64 {
        self.topology.archive.memory_attributes.flags.get(self.id)
    }

    /// Whether values depend on from where memory is used.
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
        let table = &self.topology.archive.memory_attributes;
        let start = |id| table.start.get_u32(id) as usize;
        let stored = (start(self.id)..start(self.id + 1)).map(move |row| MemoryValue {
            target: Object::new(self.topology, table.target.get_u32(row)),
            initiator: self.initiator(row),
            value: table.value.get(row),
        });
        let nodes = self.topology.objects_with_type(ObjectType::NUMANode);
        let derived = nodes.filter(move |_| self.is_derived()).map(move |target| MemoryValue {
            target,
            initiator: Initiator::None,
            value: self.derived(target),
        });
        derived.chain(stored)
    }

    fn derived(self, node: Object<'a>) -> u64 {
        match self.id {
            CAPACITY => match node.attributes() {
                crate::Attributes::NumaNode { local_memory } => local_memory,
                _ => 0,
            },
            _ => node.cpuset().and_then(|set| set.weight()).map_or(u64::MAX, u64::from),
        }
    }

    fn initiator(self, row: usize) -> Initiator<'a> {
        let table = &self.topology.archive.memory_attributes;
        let value = table.initiator.get_u32(row);
        match table.initiator_kind.get(row) {
            0 => Initiator::None,
            1 => Initiator::Cpuset(self.topology.set(value)),
            _ => Initiator::Object(Object::new(self.topology, value)),
        }
    }
}
