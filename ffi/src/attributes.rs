//! Attributes that only objects of some types have.

use crate::answer::answer;
use crate::object::{object, tb_obj};
use crate::pointers::Out;
use crate::status::tb_status;
use crate::structs::{Struct, Structs};
use crate::topology::tb_topology;
use topobroker_reader::{Associativity, Attributes, Group, PageType, Pci};

/// Kind of the attributes of an object.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_attributes_kind {
    /// The object has no attributes.
    TB_ATTRIBUTES_NONE = 0,
    /// Those of a CPU cache or a memory-side cache.
    TB_ATTRIBUTES_CACHE = 1,
    /// Those of a NUMA node.
    TB_ATTRIBUTES_NUMANODE = 2,
    /// Those of a group.
    TB_ATTRIBUTES_GROUP = 3,
    /// Those of a bridge. For a PCI bridge, `pci` describes its upstream side.
    TB_ATTRIBUTES_BRIDGE = 4,
    /// Those of a PCI device.
    TB_ATTRIBUTES_PCI = 5,
    /// Those of an OS device.
    TB_ATTRIBUTES_OS_DEVICE = 6,
}

/// What a cache holds. Counterpart: hwloc_obj_cache_type_t.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_cache_type {
    /// Data and instructions.
    TB_CACHE_UNIFIED = 0,
    /// Data.
    TB_CACHE_DATA = 1,
    /// Instructions.
    TB_CACHE_INSTRUCTION = 2,
}

/// Type of an OS device. Counterpart: hwloc_obj_osdev_type_t.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_osdev_type {
    /// A block device, or non-volatile memory.
    TB_OSDEV_BLOCK = 0,
    /// A GPU.
    TB_OSDEV_GPU = 1,
    /// A network interface.
    TB_OSDEV_NETWORK = 2,
    /// An OpenFabrics host channel adapter.
    TB_OSDEV_OPENFABRICS = 3,
    /// A DMA engine.
    TB_OSDEV_DMA = 4,
    /// A co-processor.
    TB_OSDEV_COPROC = 5,
}

/// Attributes of a cache. Counterpart: struct hwloc_cache_attr_s.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_cache {
    /// Size in bytes.
    pub size: u64,
    /// Level, 1 to 5.
    pub depth: u32,
    /// Size of a cache line in bytes; 0 if unknown.
    pub linesize: u32,
    /// Number of ways; -1 if fully associative, 0 if unknown.
    pub associativity: i32,
    /// A tb_cache_type.
    pub r#type: u32,
}

/// Attributes of a bridge. Counterpart: struct hwloc_bridge_attr_s.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_bridge {
    /// Whether the upstream side is a PCI device, which `pci` of tb_attributes describes. False for
    /// a host bridge.
    pub is_pci: bool,
    /// First bus below.
    pub secondary_bus: u8,
    /// Last bus below.
    pub subordinate_bus: u8,
    /// Type of the bus below; 1 means PCI.
    pub downstream_type: u32,
    /// PCI domain of the bus below.
    pub downstream_domain: u32,
    /// Number of bridges above this one.
    pub depth: u32,
}

/// Attributes of an object. `kind` says which of the fields are valid. Counterpart: union
/// hwloc_obj_attr_u.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_attributes {
    /// A tb_attributes_kind.
    pub kind: i32,
    /// Type of an OS device: a tb_osdev_type.
    pub osdev_type: u32,
    /// Memory of a NUMA node, in bytes.
    pub local_memory: u64,
    /// Attributes of a cache.
    pub cache: tb_cache,
    /// Attributes of a group.
    pub group: Group,
    /// Attributes of a PCI device, or of the upstream side of a PCI bridge.
    pub pci: Pci,
    /// Attributes of a bridge.
    pub bridge: tb_bridge,
}

/// Stores the attributes of an object. Counterpart: attr.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_attributes(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    attributes: Struct<'_, tb_attributes>,
    attributes_size: usize,
) -> tb_status {
    answer!(attributes(attributes_size), |topology| of(object(topology, obj)?.attributes()))
}

/// Stores up to `capacity` page types of a NUMA node in `pages`, and the number of all of them in
/// `count` (may be NULL). Other objects have none. Counterpart: page_types.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_page_types(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    pages: Structs<'_, PageType>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(pages(element_size, capacity, count), |topology| {
        let object = object(topology, obj)?;

        object.page_types()
    })
}

fn of(attributes: Attributes) -> tb_attributes {
    let none = tb_attributes::default();
    match attributes {
        Attributes::Cache(cache) => tb_attributes {
            kind: tb_attributes_kind::TB_ATTRIBUTES_CACHE as i32,
            cache: tb_cache {
                size: cache.size,
                depth: cache.depth,
                linesize: cache.linesize,
                associativity: Associativity::raw(cache.associativity),
                r#type: cache.kind.raw(),
            },
            ..none
        },
        Attributes::NumaNode { local_memory } => tb_attributes {
            kind: tb_attributes_kind::TB_ATTRIBUTES_NUMANODE as i32,
            local_memory,
            ..none
        },
        Attributes::Group(group) => {
            tb_attributes { kind: tb_attributes_kind::TB_ATTRIBUTES_GROUP as i32, group, ..none }
        }
        Attributes::Bridge(bridge) => tb_attributes {
            kind: tb_attributes_kind::TB_ATTRIBUTES_BRIDGE as i32,
            pci: bridge.upstream.unwrap_or_default(),
            bridge: tb_bridge {
                is_pci: bridge.upstream.is_some(),
                secondary_bus: bridge.secondary_bus,
                subordinate_bus: bridge.subordinate_bus,
                downstream_type: bridge.downstream_type,
                downstream_domain: bridge.downstream_domain,
                depth: bridge.depth,
            },
            ..none
        },
        Attributes::Pci(pci) => {
            tb_attributes { kind: tb_attributes_kind::TB_ATTRIBUTES_PCI as i32, pci, ..none }
        }
        Attributes::OsDevice { kind } => tb_attributes {
            kind: tb_attributes_kind::TB_ATTRIBUTES_OS_DEVICE as i32,
            osdev_type: kind.raw(),
            ..none
        },
        _ => none,
    }
}
