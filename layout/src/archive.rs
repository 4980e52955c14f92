//! The archive: a topology as columns. `FORMAT.md` in the folder of this crate describes every
//! column and why it is there.

use crate::attributes::{Bridges, Caches, Groups, PciTable};
use crate::column::Column;
use crate::levels::Levels;
use crate::tree::Tree;
use alloc::vec::Vec;
use rkyv::{Archive, Serialize};

/// Means that there is no string, in place of a row of the table of strings.
pub const NONE: u32 = u32::MAX;

/// In [`SetTable::cpuset`]: the cpuset is the set of OS indexes of the PUs below the object.
pub const CPUSET_OF_PUS: u32 = u32::MAX - 1;

/// In [`SetTable::complete_cpuset`] and [`SetTable::complete_nodeset`]: the complete set equals the
/// cpuset or the nodeset.
pub const SAME_SET: u32 = u32::MAX - 2;

/// First OS index that is too high for a PU, a NUMA node or a set. The limit is sixteen times what
/// Linux can have. It exists so that no archive can make a process allocate much memory.
pub const INDEX_LIMIT: u32 = 131_072;

/// Maximum number of 64-bit words of a set.
pub const MAX_SET_WORDS: usize = INDEX_LIMIT as usize / 64;

/// Maximum number of levels of the tree of CPUs, and of special objects one below the other. It is
/// many times what machines have, and low enough that a walk may recurse once for each level.
pub const MAX_DEPTH: usize = 128;

/// A topology. Objects are numbered level by level. A column of objects has their values in the
/// order of these numbers.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[rkyv(archived = ArchivedTopology)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct TopologyColumns {
    pub levels: Levels,
    pub tree: Tree,
    pub objects: Objects,
    pub sets: SetTable,
    pub strings: StringTable,
    pub names: StringsOfObjects,
    pub subtypes: StringsOfObjects,
    pub infos: InfosOfObjects,
    pub facts: Vec<FactsOfObjects>,
    pub total_memory: TotalMemory,
    pub caches: Caches,
    pub numa_nodes: NumaNodes,
    pub groups: Groups,
    pub bridge_upstream: Column,
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

/// Columns of objects: indexes, sets and symmetry.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Objects {
    pub os_index: Column,
    pub gp_index: Column,
    pub sets: Column,
    pub symmetric: Column,
}

/// Distinct sets, and the distinct rows of four sets (cpuset, complete cpuset, nodeset, complete
/// nodeset) that objects have.
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

/// Distinct strings in one run of UTF-8, each with a zero at its end. A string may be the end of
/// another one.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct StringTable {
    pub start: Column,
    pub bytes: Vec<u8>,
}

/// One string for each object. `string` has a row for each object from `first` on: the row of the
/// string plus one, or 0 for none. An object without a row has no string.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct StringsOfObjects {
    pub first: u32,
    pub string: Column,
}

/// Infos of objects, in the order of the objects' numbers.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct InfosOfObjects {
    pub start: Column,
    pub name: Column,
    pub value: Column,
}

/// What the publisher found out about objects without hwloc, by ascending number of the object.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct FactsOfObjects {
    pub object: Column,
    pub name: Column,
    pub value: Column,
}

/// Memory below each object that has any, by ascending number of the object.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct TotalMemory {
    pub object: Column,
    pub bytes: Column,
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

/// A run of PUs whose OS indexes are contiguous and whose logical indexes are a fixed step apart. A
/// machine has few such runs: one, or one for each hardware thread of a core.
#[derive(Archive, Serialize, Debug, Default, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct PuRun {
    pub os_first: u32,
    pub count: u32,
    pub logical_first: u32,
    pub step: u32,
}

/// One distance matrix.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct Distances {
    pub name: u32,
    pub kind: u64,
    pub objects: Column,
    pub values: Column,
}

/// Memory attributes. The values of all of them are in one run of rows.
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

/// One CPU kind. Efficiencies are stored plus one; 0 means unknown.
#[derive(Archive, Serialize, Debug, Default, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "FORMAT.md documents every column")]
pub struct CpuKind {
    pub cpuset: u32,
    pub efficiency: u32,
    pub forced_efficiency: u32,
    pub info_name: Column,
    pub info_value: Column,
}

/// Properties of the topology as a whole.
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
