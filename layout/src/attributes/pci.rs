//! Attributes of PCI devices and of bridges.

use super::bus_id::BusId;

/// Attributes of a PCI device. Counterpart: `struct hwloc_pcidev_attr_s`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
pub struct Pci {
    /// Domain, `xxxx` of `xxxx:yy:zz.t`.
    pub domain: u32,
    /// Bus, `yy`.
    pub bus: u8,
    /// Device, `zz`.
    pub dev: u8,
    /// Function, `t`.
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
    /// Speed of the link in GB/s, 0 if unknown.
    pub linkspeed: f32,
}

table! {
    /// Attributes of PCI devices, and of the upstream sides of bridges.
    PciTable, ArchivedPciTable, "pci" of Pci;
    domain = (domain), own 7
    bus = (bus), own 8
    dev_func = (dev, func), own 9
    class_id = (class_id)
    vendor_id = (vendor_id), own 10
    device_id = (device_id), own 11
    subsystem = (subvendor_id, subdevice_id), own 12
    revision = (revision), own 13
    linkspeed = (linkspeed), own 14
}

impl Pci {
    /// Whether it is of the class of displays, as GPUs are, those that only compute too.
    #[must_use]
    pub const fn is_display(&self) -> bool {
        self.class_id >> 8 == 0x03
    }

    /// Whether it is of the class of network controllers.
    #[must_use]
    pub const fn is_network(&self) -> bool {
        self.class_id >> 8 == 0x02
    }

    /// Whether it is the display of a service processor (of ASPEED or Matrox), which computes
    /// nothing.
    #[must_use]
    pub const fn is_service_display(&self) -> bool {
        self.class_id == 0x0300 && matches!(self.vendor_id, 0x1a03 | 0x102b)
    }

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

    /// Where the device is.
    #[must_use]
    pub const fn bus_id(&self) -> BusId {
        let Self { domain, bus, dev, func, .. } = *self;
        BusId { domain, bus, dev, func }
    }
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

table! {
    /// Attributes of bridges, except the upstream side, which is a row of [`PciTable`].
    Bridges, ArchivedBridges, "bridges" of Bridge except upstream;
    downstream_type = (downstream_type)
    downstream_domain = (downstream_domain), own 15
    secondary_bus = (secondary_bus), own 16
    subordinate_bus = (subordinate_bus), own 17
    depth = (depth)
}
