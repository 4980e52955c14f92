//! What objects of one type have and others have not.

use crate::call::{Given, call};
use crate::object::{object, tb_obj};
use crate::pointers::Room;
use crate::status::tb_status;
use crate::topology::tb_topology;
use std::mem::MaybeUninit;
use topobroker_reader::{Associativity, Attributes, Pci};

/// Which attributes an object has.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum tb_attributes_kind {
    /// None.
    TB_ATTRIBUTES_NONE = 0,
    /// Those of a cache.
    TB_ATTRIBUTES_CACHE = 1,
    /// Those of a NUMA node.
    TB_ATTRIBUTES_NUMANODE = 2,
    /// Those of a group.
    TB_ATTRIBUTES_GROUP = 3,
    /// Those of a bridge; of a PCI bridge, `pci` is its upstream side.
    TB_ATTRIBUTES_BRIDGE = 4,
    /// Those of a PCI device.
    TB_ATTRIBUTES_PCI = 5,
    /// Those of an OS device.
    TB_ATTRIBUTES_OS_DEVICE = 6,
}

/// What a cache caches. Counterpart: hwloc_obj_cache_type_t.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum tb_cache_kind {
    /// Data and instructions.
    TB_CACHE_UNIFIED = 0,
    /// Data.
    TB_CACHE_DATA = 1,
    /// Instructions.
    TB_CACHE_INSTRUCTION = 2,
}

/// What an OS device is. Counterpart: hwloc_obj_osdev_type_t.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum tb_os_device_kind {
    /// A block device, or memory that is not volatile.
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

/// Counterpart: struct hwloc_cache_attr_s.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_cache {
    /// Bytes.
    pub size: u64,
    /// Level, 1 to 5.
    pub depth: u32,
    /// Bytes of a line, 0 unknown.
    pub linesize: u32,
    /// Ways: -1 fully associative, 0 unknown.
    pub associativity: i32,
    /// A tb_cache_kind.
    pub kind: u32,
}

/// Counterpart: struct hwloc_group_attr_s.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_group {
    /// Which level of groups, 0 the outermost.
    pub depth: u32,
    /// hwloc's internal kind.
    pub kind: u32,
    /// hwloc's internal subkind.
    pub subkind: u32,
    /// Whether it stays although it adds nothing.
    pub dont_merge: bool,
}

/// Counterpart: struct hwloc_pcidev_attr_s.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_pci {
    /// Domain.
    pub domain: u32,
    /// Bus.
    pub bus: u8,
    /// Device.
    pub dev: u8,
    /// Function.
    pub func: u8,
    /// Revision.
    pub revision: u8,
    /// Class and subclass.
    pub class_id: u16,
    /// Vendor.
    pub vendor_id: u16,
    /// Device.
    pub device_id: u16,
    /// Vendor of the board.
    pub subvendor_id: u16,
    /// Number of the board.
    pub subdevice_id: u16,
    /// GB/s, 0 unknown.
    pub linkspeed: f32,
}

/// Counterpart: struct hwloc_bridge_attr_s.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_bridge {
    /// Whether `pci` is its upstream side; a host bridge has none.
    pub is_pci: bool,
    /// First bus below.
    pub secondary_bus: u8,
    /// Last bus below.
    pub subordinate_bus: u8,
    /// Kind of the bus below: 1 PCI.
    pub downstream_type: u32,
    /// Domain of the bus below.
    pub downstream_domain: u32,
    /// Bridges above.
    pub depth: u32,
}

/// Attributes of an object: `kind` says which of the fields count. Counterpart: union
/// hwloc_obj_attr_u.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct tb_attributes {
    /// A tb_attributes_kind.
    pub kind: i32,
    /// Of an OS device: a tb_os_device_kind.
    pub os_device_kind: u32,
    /// Memory of a NUMA node in bytes.
    pub local_memory: u64,
    /// Of a cache.
    pub cache: tb_cache,
    /// Of a group.
    pub group: tb_group,
    /// Of a PCI device or bridge.
    pub pci: tb_pci,
    /// Of a bridge.
    pub bridge: tb_bridge,
}

/// Memory pages of one size. Counterpart: struct hwloc_memory_page_type_s.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_page_type {
    /// Bytes of a page.
    pub size: u64,
    /// Number of pages.
    pub count: u64,
}

/// Stores the attributes of an object. Counterpart: attr.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_attributes(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    attributes: Option<&mut MaybeUninit<tb_attributes>>,
) -> tb_status {
    call(|| {
        let (topology, out) = (topology.given("topology")?, attributes.given("attributes")?);
        out.write(of(object(topology.get(), obj)?.attributes()));
        Ok(())
    })
}

/// Stores up to `capacity` kinds of memory pages of a NUMA node, and their number in `count` (may be
/// NULL). Counterpart: page_types.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_page_types(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    pages: Room<'_, tb_page_type>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> tb_status {
    call(|| {
        let object = object(topology.given("topology")?.get(), obj)?;
        let all = object.page_types().map(|it| tb_page_type { size: it.size, count: it.count });
        pages.fill(all, capacity, count)
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
