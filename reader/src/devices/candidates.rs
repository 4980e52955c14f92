//! The NICs that ranks may be given: one of each adapter, though it is several OS devices.

use super::virtual_functions::has_physical_function;
use crate::object::Object;
use crate::topology::Topology;
use alloc::borrow::Cow;
use alloc::string::ToString;
use topobroker_layout::attributes::{Attributes, BusId, OsDeviceKind};
use topobroker_layout::object_type::ObjectType;

/// Whether a network device is ready for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// It has an active port, or is an interface that is up.
    Active,
    /// It has no active port, or is an interface that is down.
    Inactive,
    /// Neither hwloc nor the publisher found it out.
    Unknown,
}

/// Which NICs ranks may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NicChoice {
    /// Those that are known to be active.
    Active,
    /// Also those of unknown state: an XML file may have no states.
    ActiveOrUnknown,
}

impl NicChoice {
    /// Those that are known to be active; with `unknown`, also those of unknown state.
    #[must_use]
    pub const fn new(unknown: bool) -> Self {
        if unknown { Self::ActiveOrUnknown } else { Self::Active }
    }
}

impl<'a> Topology<'a> {
    /// The NICs that ranks may be given, in logical order: one of each PCI device. They are
    /// OpenFabrics and Slingshot devices (the CXI device, where hwloc knows it) if the node has
    /// any, in whatever state, otherwise network interfaces: messages should not go over the
    /// network of the administrators because a cable is loose. Virtual functions count only where
    /// their physical function is not, in a virtual machine: they have the same port.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::devices::NicChoice;
    /// for nic in topology.nics(NicChoice::Active) {
    ///     println!("{}: {:?} Mb/s", nic.name().unwrap_or_default(), nic.link_mbps());
    /// }
    /// ```
    pub fn nics(self, choice: NicChoice) -> impl Iterator<Item = Object<'a>> {
        let all = move || self.objects_with_type(ObjectType::OSDevice);
        let has_fabric = all().any(is_fabric);
        // An interface without a PCI device is not an adapter: a bridge, or the loop-back one.
        let is_adapter = move |device: &Object<'a>| match has_fabric {
            true => is_fabric(*device) && !has_physical_function(*device),
            false => {
                is_interface(*device)
                    && device.pci_device_above().is_some()
                    && !has_physical_function(*device)
            }
        };
        let is_wanted = move |device: &Object<'a>| match device.link_state() {
            LinkState::Active => true,
            LinkState::Unknown => choice == NicChoice::ActiveOrUnknown,
            LinkState::Inactive => false,
        };
        // To ask for the state of a device takes longer than everything here.
        let is_first = move |device: &Object<'a>| {
            let pci = device.pci_device_above();
            let others = || pci.into_iter().flat_map(Object::io_children).filter(is_adapter);
            let first = || others().filter(is_wanted).min_by_key(|device| !is_cxi(*device));
            others().nth(1).is_none() || first().is_none_or(|first| first == *device)
        };
        all().filter(is_adapter).filter(is_wanted).filter(is_first)
    }
}

impl<'a> Object<'a> {
    /// Whether a network device is ready for messages. Other objects are of unknown state.
    #[must_use]
    pub fn link_state(self) -> LinkState {
        match self.os_device_kind() {
            Some(OsDeviceKind::OpenFabrics) => {
                let mut ports = self.ports().map(|port| port.state());
                match () {
                    () if self.ports().any(|port| port.is_active()) => LinkState::Active,
                    () if self.ports().next().is_none() => LinkState::Unknown,
                    () if ports.any(|state| state.is_none()) => LinkState::Unknown,
                    () => LinkState::Inactive,
                }
            }
            Some(OsDeviceKind::Network) => {
                match self.interface().and_then(|it| it.fact("OperState")) {
                    Some("up") => LinkState::Active,
                    None | Some("unknown") => LinkState::Unknown,
                    Some(_) => LinkState::Inactive,
                }
            }
            _ => LinkState::Unknown,
        }
    }

    /// The rate in Mb/s of the fastest active port of an OpenFabrics device, or of a network
    /// interface; `None` if it is not known.
    #[must_use]
    pub fn link_mbps(self) -> Option<u64> {
        match self.os_device_kind()? {
            OsDeviceKind::OpenFabrics => {
                let active = self.ports().filter(|port| port.is_active());
                active.filter_map(|port| port.rate_mbps()).max()
            }
            OsDeviceKind::Network => self.interface()?.fact("Speed")?.parse().ok(),
            _ => None,
        }
    }

    /// The interface by which IP goes over a network device: the device itself, or the one next to
    /// a CXI device of Slingshot, which has the same link. `None` if there is none.
    #[must_use]
    pub fn interface(self) -> Option<Self> {
        if !is_cxi(self) {
            return Some(self).filter(|it| is_interface(*it));
        }
        self.parent()?.io_children().find(|it| is_interface(*it) && !is_cxi(*it))
    }

    /// The IPv4 subnets of the interfaces of a NIC, of their VLANs and bonds, such as
    /// `10.1.0.0/16`. None if they are unknown: hwloc's XML has none.
    pub fn ip_subnets(self) -> impl Iterator<Item = &'a str> {
        let siblings = self.pci_device_above().into_iter().flat_map(Object::io_children);
        let interfaces = siblings.filter(|it| is_interface(*it));
        let subnets = interfaces.filter_map(|it| it.fact("IPSubnets"));
        subnets.flat_map(|list| list.split(','))
    }

    /// The kind of an OS device; `None` for other objects.
    #[must_use]
    pub fn os_device_kind(self) -> Option<OsDeviceKind> {
        match self.attributes() {
            Attributes::OsDevice { kind } => Some(kind),
            _ => None,
        }
    }

    /// The PCI device that this is, or is a part of.
    #[must_use]
    pub fn pci_device_above(self) -> Option<Self> {
        let is_pci = |it: &Self| it.object_type() == ObjectType::PCIDevice;
        Some(self).filter(is_pci).or_else(|| self.ancestors().find(is_pci))
    }

    /// The name by which users know a device: that of the OS device, otherwise its PCI bus id.
    /// Empty for other objects.
    #[must_use]
    pub fn device_name(self) -> Cow<'a, str> {
        match (self.os_device_kind(), self.pci_attributes()) {
            (Some(_), _) => self.name().unwrap_or_default().into(),
            (None, Some(pci)) => pci.bus_id().to_string().into(),
            (None, None) => "".into(),
        }
    }
}

fn is_interface(device: Object<'_>) -> bool {
    device.os_device_kind() == Some(OsDeviceKind::Network)
}

/// Whether a device is of a network that is made for messages.
fn is_fabric(device: Object<'_>) -> bool {
    device.os_device_kind() == Some(OsDeviceKind::OpenFabrics) || is_slingshot(device)
}

/// Whether a device is of Slingshot. hwloc says so from version 2.5 on; before, the vendor does.
pub(crate) fn is_slingshot(device: Object<'_>) -> bool {
    const CRAY: u16 = 0x17db;
    is_interface(device)
        && (device.subtype() == Some("Slingshot") || device.pci_vendor() == Some(CRAY))
}

/// Whether a device is the one by which libfabric knows a Slingshot NIC. hwloc 2.13 and later find
/// it, next to the interface for IP.
pub(crate) fn is_cxi(device: Object<'_>) -> bool {
    device.subtype() == Some("Slingshot") && device.name().is_some_and(|it| it.starts_with("cxi"))
}

impl Object<'_> {
    /// The vendor of a PCI device, or of the PCI device that an OS device is of.
    #[must_use]
    pub fn pci_vendor(self) -> Option<u16> {
        Some(self.pci_device_above()?.pci_attributes()?.vendor_id)
    }

    /// The bus id of a PCI device, or of the PCI device that an OS device is of.
    #[must_use]
    pub fn bus_id(self) -> Option<BusId> {
        Some(self.pci_device_above()?.pci_attributes()?.bus_id())
    }
}
