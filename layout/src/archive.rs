//! The archive: a topology as columns. `FORMAT.md` beside this crate says why each is there.

use crate::column::Column;
use crate::levels::Levels;
use crate::tree::Tree;
use rkyv::{Archive, Serialize};

/// Stands for "no row": of a string, a set or an object.
pub const NONE: u32 = u32::MAX;

/// In a row of sets: the cpuset is the OS indexes of the PUs below the object.
pub const CPUSET_OF_PUS: u32 = u32::MAX - 1;

/// In a row of sets: the complete set is the set.
pub const SAME_SET: u32 = u32::MAX - 2;

/// First OS index that is too high for a PU, a NUMA node or a set, so that no archive can ask for much memory: sixteen
/// times what Linux can have.
pub const INDEX_LIMIT: u32 = 131_072;

/// Most 64-bit words of a set.
pub const MAX_SET_WORDS: usize = INDEX_LIMIT as usize / 64;

/// Most levels of the tree of CPUs, and most special objects one below the other: many times what
/// machines have, and little enough that a walk may call itself for each.
pub const MAX_DEPTH: usize = 128;

/// A topology. Objects are numbered level by level; a column of objects has a value for each.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Topology {
    pub levels: Levels,
    pub tree: Tree,
    pub objects: Objects,
    pub sets: SetTable,
    pub strings: StringTable,
    pub names: StringsOfObjects,
    pub subtypes: StringsOfObjects,
    pub infos: InfosOfObjects,
    pub total_memory: TotalMemory,
    pub caches: Caches,
    pub numa_nodes: NumaNodes,
    pub groups: Groups,
    pub bridges: Bridges,
    pub pci: PciTable,
    pub os_device_kind: Column,
    pub distances: Vec<Distances>,
    pub memory_attributes: MemoryAttributes,
    pub cpu_kinds: Vec<CpuKind>,
    pub pu_runs: Vec<PuRun>,
    pub numa_by_os_index: Column,
    pub machine: Machine,
}

/// Columns of objects.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Objects {
    pub os_index: Column,
    pub gp_index: Column,
    pub sets: Column,
    pub symmetric: Column,
}

/// Distinct sets, and the distinct rows of four that objects have.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct SetTable {
    pub cpuset: Column,
    pub complete_cpuset: Column,
    pub nodeset: Column,
    pub complete_nodeset: Column,
    pub first_word: Column,
    pub start: Column,
    pub infinite: Column,
    pub words: Column,
}

/// Distinct strings in one run of UTF-8, each with a zero at its end; one may end another.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct StringTable {
    pub start: Column,
    pub bytes: Vec<u8>,
}

/// A string plus one, or 0 for none, for each of the objects from `first` on; none of the others.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct StringsOfObjects {
    pub first: u32,
    pub string: Column,
}

/// Infos, object by object.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct InfosOfObjects {
    pub start: Column,
    pub name: Column,
    pub value: Column,
}

/// Memory below those objects that have any, by ascending object.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct TotalMemory {
    pub object: Column,
    pub bytes: Column,
}

/// Rows of cache attributes, of CPU caches and memory-side caches.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Caches {
    pub size: Column,
    pub depth: Column,
    pub linesize: Column,
    pub associativity: Column,
    pub kind: Column,
}

/// Rows of NUMA node attributes.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct NumaNodes {
    pub local_memory: Column,
    pub page_type_start: Column,
    pub page_size: Column,
    pub page_count: Column,
}

/// Rows of group attributes.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Groups {
    pub depth: Column,
    pub kind: Column,
    pub subkind: Column,
    pub dont_merge: Column,
}

/// Rows of bridge attributes; `upstream` is a row of the PCI table plus one, 0 of a host bridge.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Bridges {
    pub upstream: Column,
    pub downstream_type: Column,
    pub downstream_domain: Column,
    pub secondary_bus: Column,
    pub subordinate_bus: Column,
    pub depth: Column,
}

/// Rows of PCI attributes, of PCI devices and of the upstream side of bridges.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct PciTable {
    pub domain: Column,
    pub bus: Column,
    pub dev_func: Column,
    pub class_id: Column,
    pub vendor_id: Column,
    pub device_id: Column,
    pub subsystem: Column,
    pub revision: Column,
    pub linkspeed: Column,
}

/// PUs whose OS indexes follow each other and whose logical indexes are a fixed step apart. A
/// machine has few such runs: one, or one for each hardware thread of a core.
#[derive(Archive, Serialize, Debug, Default, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct PuRun {
    pub os_first: u32,
    pub count: u32,
    pub logical_first: u32,
    pub step: u32,
}

/// One matrix.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Distances {
    pub name: u32,
    pub kind: u64,
    pub objects: Column,
    pub values: Column,
}

/// Memory attributes, and their values in one run.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct MemoryAttributes {
    pub name: Column,
    pub flags: Column,
    pub start: Column,
    pub target: Column,
    pub initiator_kind: Column,
    pub initiator: Column,
    pub value: Column,
}

/// One CPU kind. Efficiencies are stored plus one, 0 unknown.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct CpuKind {
    pub cpuset: u32,
    pub efficiency: u32,
    pub forced_efficiency: u32,
    pub info_name: Column,
    pub info_value: Column,
}

/// What is said of the topology as a whole.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Machine {
    pub flags: u64,
    pub is_this_system: u32,
    pub allowed_cpuset: u32,
    pub allowed_nodeset: u32,
    pub type_filters: Column,
    pub support: Column,
}
