//! Attributes that only objects of some types have.

use crate::answer::answer;
use crate::object::{object, tb_obj};
use crate::pointers::Out;
use crate::status::tb_status;
use crate::structs::{Struct, Structs};
use crate::topology::tb_topology;
use topobroker_reader::{Associativity, Attributes, Pci};

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
pub enum tb_cache_kind {
    /// Data and instructions.
    TB_CACHE_UNIFIED = 0,
    /// Data.
    TB_CACHE_DATA = 1,
    /// Instructions.
    TB_CACHE_INSTRUCTION = 2,
}

/// Kind of an OS device. Counterpart: hwloc_obj_osdev_type_t.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_os_device_kind {
    /// A block device, or non-volatile memory.
    TB_OS_DEVICE_BLOCK = 0,
    /// A GPU.
    TB_OS_DEVICE_GPU = 1,
    /// A network interface.
    TB_OS_DEVICE_NETWORK = 2,
    /// An OpenFabrics host channel adapter.
    TB_OS_DEVICE_OPENFABRICS = 3,
    /// A DMA engine.
    TB_OS_DEVICE_DMA = 4,
    /// A co-processor.
    TB_OS_DEVICE_COPROC = 5,
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
    /// A tb_cache_kind.
    pub kind: u32,
}

/// Attributes of a group. Counterpart: struct hwloc_group_attr_s.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_group {
    /// Level among the levels of groups; 0 is the outermost. It is the number in Group0.
    pub depth: u32,
    /// hwloc's internal kind.
    pub kind: u32,
    /// hwloc's internal subkind, which tells different levels of one kind apart.
    pub subkind: u32,
    /// Whether the group must not be merged with another object, even if it adds nothing to the
    /// structure.
    pub dont_merge: bool,
}

/// Attributes of a PCI device. Counterpart: struct hwloc_pcidev_attr_s.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_pci {
    /// Domain: xxxx of xxxx:yy:zz.t.
    pub domain: u32,
    /// Bus: yy.
    pub bus: u8,
    /// Device: zz.
    pub dev: u8,
    /// Function: t.
    pub func: u8,
    /// Revision.
    pub revision: u8,
    /// Class and subclass.
    pub class_id: u16,
    /// Vendor id.
    pub vendor_id: u16,
    /// Device id.
    pub device_id: u16,
    /// Vendor id of the board.
    pub subvendor_id: u16,
    /// Device id of the board.
    pub subdevice_id: u16,
    /// Speed of the link in GB/s; 0 if unknown.
    pub linkspeed: f32,
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
    /// Kind of an OS device: a tb_os_device_kind.
    pub os_device_kind: u32,
    /// Memory of a NUMA node, in bytes.
    pub local_memory: u64,
    /// Attributes of a cache.
    pub cache: tb_cache,
    /// Attributes of a group.
    pub group: tb_group,
    /// Attributes of a PCI device, or of the upstream side of a PCI bridge.
    pub pci: tb_pci,
    /// Attributes of a bridge.
    pub bridge: tb_bridge,
}

/// Memory pages of one size. Counterpart: struct hwloc_memory_page_type_s.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_page_type {
    /// Size of a page in bytes.
    pub size: u64,
    /// Number of pages.
    pub count: u64,
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
    pages: Structs<'_, tb_page_type>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(pages(element_size, capacity, count), |topology| {
        let object = object(topology, obj)?;

        object.page_types().map(|it| tb_page_type { size: it.size, count: it.count })
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
                kind: cache.kind.raw(),
            },
            ..none
        },
        Attributes::NumaNode { local_memory } => tb_attributes {
            kind: tb_attributes_kind::TB_ATTRIBUTES_NUMANODE as i32,
            local_memory,
            ..none
        },
        Attributes::Group(group) => tb_attributes {
            kind: tb_attributes_kind::TB_ATTRIBUTES_GROUP as i32,
            group: tb_group {
                depth: group.depth,
                kind: group.kind,
                subkind: group.subkind,
                dont_merge: group.dont_merge,
            },
            ..none
        },
        Attributes::Bridge(bridge) => tb_attributes {
            kind: tb_attributes_kind::TB_ATTRIBUTES_BRIDGE as i32,
            pci: bridge.upstream.map(pci).unwrap_or_default(),
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
        Attributes::Pci(device) => tb_attributes {
            kind: tb_attributes_kind::TB_ATTRIBUTES_PCI as i32,
            pci: pci(device),
            ..none
        },
        Attributes::OsDevice { kind } => tb_attributes {
            kind: tb_attributes_kind::TB_ATTRIBUTES_OS_DEVICE as i32,
            os_device_kind: kind.raw(),
            ..none
        },
        _ => none,
    }
}

fn pci(pci: Pci) -> tb_pci {
    tb_pci {
        domain: pci.domain,
        bus: pci.bus,
        dev: pci.dev,
        func: pci.func,
        revision: pci.revision,
        class_id: pci.class_id,
        vendor_id: pci.vendor_id,
        device_id: pci.device_id,
        subvendor_id: pci.subvendor_id,
        subdevice_id: pci.subdevice_id,
        linkspeed: pci.linkspeed,
    }
}
