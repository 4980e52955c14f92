//! Attributes that only objects of some types have. Counterpart: `union hwloc_obj_attr_u`.

use alloc::format;
use alloc::string::String;

/// Attributes of an object, which depend on its type.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Attributes {
    /// The type has no attributes.
    #[default]
    None,
    /// Of a CPU cache or a memory-side cache.
    Cache(Cache),
    /// Of a NUMA node. Its page types are not here but in
    /// [`page_types`](crate::description::Object::page_types), because there may be many.
    NumaNode {
        /// Memory of the node, in bytes.
        local_memory: u64,
    },
    /// Of a group.
    Group(Group),
    /// Of a bridge.
    Bridge(Bridge),
    /// Of a PCI device.
    Pci(Pci),
    /// Of an OS device.
    OsDevice {
        /// Kind of the device.
        kind: OsDeviceKind,
    },
}

/// Attributes of a cache. Counterpart: `struct hwloc_cache_attr_s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cache {
    /// Size in bytes.
    pub size: u64,
    /// Level: 1 to 5.
    pub depth: u32,
    /// Line size in bytes, 0 if unknown.
    pub linesize: u32,
    /// Associativity, `None` if unknown.
    pub associativity: Option<Associativity>,
    /// Whether it caches data, instructions or both.
    pub kind: CacheKind,
}

/// What a cache caches. Counterpart: `hwloc_obj_cache_type_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CacheKind {
    /// Data and instructions.
    #[default]
    Unified,
    /// Data.
    Data,
    /// Instructions.
    Instruction,
    /// A number that hwloc 2 does not define.
    Other(u32),
}

impl CacheKind {
    /// Its name: `unified`, `data` or `instruction`, else `unknown`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unified => "unified",
            Self::Data => "data",
            Self::Instruction => "instruction",
            Self::Other(_) => "unknown",
        }
    }

    /// The kind with hwloc's number.
    #[must_use]
    pub const fn from_raw(raw: u32) -> Self {
        match raw {
            0 => Self::Unified,
            1 => Self::Data,
            2 => Self::Instruction,
            other => Self::Other(other),
        }
    }

    /// hwloc's number of the kind.
    #[must_use]
    pub const fn raw(self) -> u32 {
        match self {
            Self::Unified => 0,
            Self::Data => 1,
            Self::Instruction => 2,
            Self::Other(raw) => raw,
        }
    }
}

/// Associativity of a cache: in how many of its lines an address can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Associativity {
    /// In any line. hwloc's -1.
    Full,
    /// In this many lines.
    Ways(u32),
}

impl Associativity {
    /// The associativity with hwloc's number, `None` for 0, which means unknown.
    #[must_use]
    pub const fn from_raw(raw: i32) -> Option<Self> {
        match raw {
            0 => None,
            -1 => Some(Self::Full),
            ways => Some(Self::Ways(ways.cast_unsigned())),
        }
    }

    /// hwloc's number of an associativity.
    #[must_use]
    pub const fn raw(associativity: Option<Self>) -> i32 {
        match associativity {
            None => 0,
            Some(Self::Full) => -1,
            Some(Self::Ways(ways)) => ways.cast_signed(),
        }
    }
}

/// Kind of an OS device. Counterpart: `hwloc_obj_osdev_type_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OsDeviceKind {
    /// A block device, or non-volatile memory.
    Block,
    /// A GPU.
    Gpu,
    /// A network interface.
    Network,
    /// An OpenFabrics host channel adapter.
    OpenFabrics,
    /// A DMA engine.
    Dma,
    /// A co-processor.
    CoProcessor,
    /// A number that hwloc 2 does not define.
    Other(u32),
}

impl OsDeviceKind {
    /// The kinds that hwloc 2 defines, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Block, Self::Gpu, Self::Network, Self::OpenFabrics, Self::Dma, Self::CoProcessor];

    /// The kind with hwloc's number.
    #[must_use]
    pub fn from_raw(raw: u32) -> Self {
        Self::ALL.into_iter().find(|kind| kind.raw() == raw).unwrap_or(Self::Other(raw))
    }

    /// Its name: `block`, `gpu`, `network`, `openfabrics`, `dma` or `coproc`, else `other`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Gpu => "gpu",
            Self::Network => "network",
            Self::OpenFabrics => "openfabrics",
            Self::Dma => "dma",
            Self::CoProcessor => "coproc",
            Self::Other(_) => "other",
        }
    }

    /// hwloc's number of the kind.
    #[must_use]
    pub const fn raw(self) -> u32 {
        match self {
            Self::Block => 0,
            Self::Gpu => 1,
            Self::Network => 2,
            Self::OpenFabrics => 3,
            Self::Dma => 4,
            Self::CoProcessor => 5,
            Self::Other(raw) => raw,
        }
    }
}

/// Attributes of a group. Counterpart: `struct hwloc_group_attr_s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Group {
    /// Level among the levels of groups; 0 is the outermost. It is the number in `Group0`.
    pub depth: u32,
    /// hwloc's internal kind of group.
    pub kind: u32,
    /// hwloc's internal subkind, which tells different levels of one kind apart.
    pub subkind: u32,
    /// Whether the group must not be merged with another object, even if it adds nothing to the
    /// structure.
    pub dont_merge: bool,
}

/// Attributes of a PCI device. Counterpart: `struct hwloc_pcidev_attr_s`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pci {
    /// Domain, `xxxx` of `xxxx:yy:zz.t`.
    pub domain: u32,
    /// Bus, `yy`.
    pub bus: u8,
    /// Device, `zz`.
    pub dev: u8,
    /// Function, `t`.
    pub func: u8,
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
    /// Revision.
    pub revision: u8,
    /// Speed of the link in GB/s, 0 if unknown.
    pub linkspeed: f32,
}

/// Attributes of a bridge. Counterpart: `struct hwloc_bridge_attr_s`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bridge {
    /// The bridge as a PCI device, `None` for a host bridge.
    pub upstream: Option<Pci>,
    /// Type of the bus below; 1 means PCI.
    pub downstream_type: u32,
    /// PCI domain of the bus below.
    pub downstream_domain: u32,
    /// First bus below.
    pub secondary_bus: u8,
    /// Last bus below.
    pub subordinate_bus: u8,
    /// Number of bridges above this one.
    pub depth: u32,
}

/// Memory pages of one size. Counterpart: `struct hwloc_memory_page_type_s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageType {
    /// Size of a page in bytes.
    pub size: u64,
    /// Number of pages.
    pub count: u64,
}

impl Pci {
    /// Whether hwloc keeps the device if only important I/O is wanted
    /// (`HWLOC_TYPE_FILTER_KEEP_IMPORTANT`): displays, networks, storage, co-processors and the
    /// like.
    #[must_use]
    pub const fn is_important(&self) -> bool {
        // Base classes: none, storage, network, display, bridge (an NVSwitch is one), processor,
        // accelerator. Then single classes: Fibre Channel, InfiniBand, CXL memory.
        matches!(self.class_id >> 8, 0x00 | 0x01 | 0x02 | 0x03 | 0x06 | 0x0b | 0x12)
            || matches!(self.class_id, 0x0c04 | 0x0c06 | 0x0502)
    }

    /// Domain, bus, device and function in one number, which old XML files have as the OS index.
    #[must_use]
    pub const fn bus_id(&self) -> u32 {
        let Self { domain, bus, dev, func, .. } = *self;
        (domain << 20) | ((bus as u32) << 12) | ((dev as u32) << 4) | func as u32
    }

    /// Domain, bus, device and function as Linux writes them: `0000:03:00.1`.
    #[must_use]
    pub fn bus_id_text(&self) -> String {
        let Self { domain, bus, dev, func, .. } = self;
        format!("{domain:04x}:{bus:02x}:{dev:02x}.{func:x}")
    }
}
