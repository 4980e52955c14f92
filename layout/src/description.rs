//! A topology as plain owned values: what capture fills, filters change and the builder archives.

use crate::attributes::{Attributes, PageType};
use crate::depth::Depth;
use crate::object_type::{ChildKind, ObjectType};
use crate::set::Set;
use crate::type_filter::TypeFilter;

/// Everything that hwloc knows of a topology.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Description {
    /// All objects; the first is the root. Children are named by their place in this list.
    pub objects: Vec<Object>,
    /// PUs that may be used. Counterpart: `hwloc_topology_get_allowed_cpuset`.
    pub allowed_cpuset: Set,
    /// NUMA nodes that may be used. Counterpart: `hwloc_topology_get_allowed_nodeset`.
    pub allowed_nodeset: Set,
    /// Distance matrices. Counterpart: `hwloc_distances_get`.
    pub distances: Vec<Distances>,
    /// Memory attributes, in the order of their ids. Counterpart: `hwloc_memattr_*`.
    pub memory_attributes: Vec<MemoryAttribute>,
    /// CPU kinds, in the order of their indexes. Counterpart: `hwloc_cpukinds_*`.
    pub cpu_kinds: Vec<CpuKind>,
    /// Counterpart: `hwloc_topology_get_flags`.
    pub flags: u64,
    /// Whether binding functions of hwloc act on this machine. Counterpart:
    /// `hwloc_topology_is_thissystem`.
    pub is_this_system: bool,
    /// Type filters, by hwloc's number of the type.
    pub type_filters: Vec<TypeFilter>,
    /// Support bits in the order of [`crate::support::NAMES`].
    pub support: Vec<u8>,
}

/// One object of the tree. Counterpart: `struct hwloc_obj`.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Type.
    pub object_type: ObjectType,
    /// Depth in the tree of CPUs, or that of a special type.
    pub depth: Depth,
    /// Place within its depth.
    pub logical_index: u32,
    /// Number given by the operating system. Counterpart: `os_index`.
    pub os_index: Option<u32>,
    /// Number that no other object of the topology has, and that survives filtering.
    pub gp_index: u64,
    /// Counterpart: `subtype`.
    pub subtype: Option<String>,
    /// Counterpart: `name`.
    pub name: Option<String>,
    /// Pairs of name and value.
    pub infos: Vec<(String, String)>,
    /// What depends on the type.
    pub attributes: Attributes,
    /// Page types of a NUMA node.
    pub page_types: Vec<PageType>,
    /// Whether all subtrees below are alike.
    pub symmetric_subtree: bool,
    /// The four sets; `None` of I/O and Misc objects.
    pub sets: Option<Sets>,
    /// Place of the parent in the list, `None` of the root.
    pub parent: Option<usize>,
    /// Places of all children: first the normal ones, then memory, I/O and Misc.
    pub children: Vec<usize>,
}

/// The four sets of an object. Counterparts: `cpuset`, `complete_cpuset`, `nodeset`,
/// `complete_nodeset`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sets {
    /// PUs of the object that are in the topology.
    pub cpuset: Set,
    /// PUs of the object, known or not.
    pub complete_cpuset: Set,
    /// NUMA nodes near the object that are in the topology.
    pub nodeset: Set,
    /// NUMA nodes near the object, known or not.
    pub complete_nodeset: Set,
}

/// A matrix between objects. Counterpart: `struct hwloc_distances_s`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Distances {
    /// Name, such as `NUMALatency`.
    pub name: Option<String>,
    /// Sum of `HWLOC_DISTANCES_KIND_*`.
    pub kind: u64,
    /// Places of the objects in the list of the description.
    pub objects: Vec<usize>,
    /// Row by row: the value from object i to object j is at `i * objects + j`.
    pub values: Vec<u64>,
}

/// A memory attribute and all its values. Counterpart: `hwloc_memattr_id_t` and its queries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryAttribute {
    /// Name, such as `Bandwidth`.
    pub name: String,
    /// Sum of `HWLOC_MEMATTR_FLAG_*`.
    pub flags: u64,
    /// The values that are stored, targets in hwloc's order. Capacity and Locality have none:
    /// they follow from the objects.
    pub values: Vec<MemoryValue>,
}

/// Value of a memory attribute at one target from one initiator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryValue {
    /// Place of the target in the list of objects.
    pub target: usize,
    /// From where.
    pub initiator: Initiator,
    /// The value, in bytes, MiB/s or nanoseconds as hwloc has them.
    pub value: u64,
}

/// From where a memory attribute was measured. Counterpart: `struct hwloc_location`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Initiator {
    /// From anywhere: the attribute needs no initiator.
    None,
    /// From these PUs.
    Cpuset(Set),
    /// From the object at this place in the list.
    Object(usize),
}

/// PUs of one kind. Counterpart: `hwloc_cpukinds_get_info`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuKind {
    /// Its PUs.
    pub cpuset: Set,
    /// Rank from 0, the most frugal; `None` if unknown.
    pub efficiency: Option<u32>,
    /// The efficiency that the platform or a user stated, kept by hwloc's XML.
    pub forced_efficiency: Option<u32>,
    /// Pairs of name and value.
    pub infos: Vec<(String, String)>,
}

impl Object {
    /// The list of its parent that it is in.
    #[must_use]
    pub fn child_kind(&self) -> ChildKind {
        self.object_type.child_kind()
    }
}
