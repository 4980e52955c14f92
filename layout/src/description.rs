//! A topology as plain owned values. Capture fills them, filters change them and the builder
//! archives them.

use crate::attributes::{Attributes, PageType};
use crate::depth::Depth;
use crate::object_type::{ChildKind, ObjectType};
use crate::set::Set;
use crate::type_filter::TypeFilter;
use alloc::string::String;
use alloc::vec::Vec;

/// Everything that hwloc knows about a topology.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Description {
    /// All objects; the first is the root. Objects refer to each other by their places in this
    /// list.
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
    /// Flags of the topology. Counterpart: `hwloc_topology_get_flags`.
    pub flags: u64,
    /// Whether hwloc's binding functions act on this machine. Counterpart:
    /// `hwloc_topology_is_thissystem`.
    pub is_this_system: bool,
    /// Type filters, by hwloc's number of the type.
    pub type_filters: Vec<TypeFilter>,
    /// Support bits in the order of [`crate::support::names`].
    pub support: Vec<u8>,
}

/// One object of the tree. Counterpart: `struct hwloc_obj`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object {
    /// Type.
    pub object_type: ObjectType,
    /// Depth in the tree of CPUs, or depth of a special type.
    pub depth: Depth,
    /// Position in its level. Counterpart: `logical_index`.
    pub logical_index: u32,
    /// Number given by the operating system. Counterpart: `os_index`.
    pub os_index: Option<u32>,
    /// Number that no other object of the topology has. It survives filtering. Counterpart:
    /// `gp_index`.
    pub gp_index: u64,
    /// Subtype. Counterpart: `subtype`.
    pub subtype: Option<String>,
    /// Name. Counterpart: `name`.
    pub name: Option<String>,
    /// Pairs of name and value.
    pub infos: Vec<(String, String)>,
    /// Pairs of name and value that are not hwloc's: what else the publisher found out. They are in
    /// no export.
    pub facts: Vec<(String, String)>,
    /// Attributes that depend on the type.
    pub attributes: Attributes,
    /// Page types of a NUMA node.
    pub page_types: Vec<PageType>,
    /// Whether all subtrees below are alike.
    pub symmetric_subtree: bool,
    /// The four sets; `None` for I/O and Misc objects.
    pub sets: Option<Sets>,
    /// Place of the parent in the list, `None` for the root.
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
    /// PUs of the object, including those that are not in the topology.
    pub complete_cpuset: Set,
    /// NUMA nodes near the object that are in the topology.
    pub nodeset: Set,
    /// NUMA nodes near the object, including those that are not in the topology.
    pub complete_nodeset: Set,
}

/// A matrix of distances between objects. Counterpart: `struct hwloc_distances_s`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Distances {
    /// Name, such as `NUMALatency`.
    pub name: Option<String>,
    /// Sum of `HWLOC_DISTANCES_KIND_*`.
    pub kind: u64,
    /// Places of the objects in [`Description::objects`].
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
    /// The stored values, with targets in hwloc's order. Capacity and Locality have none, because
    /// their values follow from the objects.
    pub values: Vec<MemoryValue>,
}

/// Value of a memory attribute at one target from one initiator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryValue {
    /// Place of the target in the list of objects.
    pub target: usize,
    /// Where the value was measured from.
    pub initiator: Initiator,
    /// The value in hwloc's unit: bytes, MiB/s or nanoseconds.
    pub value: u64,
}

/// Where a memory attribute was measured from. Counterpart: `struct hwloc_location`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Initiator {
    /// The attribute needs no initiator.
    None,
    /// From these PUs.
    Cpuset(Set),
    /// From the object at this place in the list.
    Object(usize),
}

/// PUs of one kind. Counterpart: `hwloc_cpukinds_get_info`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuKind {
    /// PUs of this kind.
    pub cpuset: Set,
    /// Rank of the kind; 0 is the kind that needs the least energy. `None` if unknown.
    pub efficiency: Option<u32>,
    /// The efficiency that the platform or a user stated. hwloc has it only in its XML.
    pub forced_efficiency: Option<u32>,
    /// Pairs of name and value.
    pub infos: Vec<(String, String)>,
}

impl Object {
    /// Which child list of its parent the object is in.
    #[must_use]
    pub fn child_kind(&self) -> ChildKind {
        self.object_type.child_kind()
    }
}
