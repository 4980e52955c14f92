//! The NICs and GPUs that ranks may be given: one of each, though an adapter is several OS devices.

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
    /// Also those whose state nobody knows: an XML file may have no states.
    ActiveOrUnknown,
}

impl NicChoice {
    /// Those that are known to be active; with `unknown`, also those whose state nobody knows.
    #[must_use]
    pub const fn new(unknown: bool) -> Self {
        if unknown { Self::ActiveOrUnknown } else { Self::Active }
    }
}

/// Subtypes of OS devices by which programs compute on GPUs, the best first.
const BACKENDS: &str = "CUDA NVML RSMI AMDSMI LevelZero OpenCL";

/// PCI classes of controllers for three-dimensional graphics without a display, and of what computes.
const COMPUTES: [u16; 2] = [0x0302, 0x1200];

impl<'a> Topology<'a> {
    /// The NICs that ranks may be given, in logical order: one of each PCI device. They are
    /// OpenFabrics and Slingshot devices (the CXI device, where hwloc knows it) if the node has any,
    /// in whatever state, else network interfaces: nobody wants messages to go over the network of
    /// the administrators because a cable is loose.
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
        // An interface beside the PCI devices is no adapter: a bridge, or the loop-back one.
        let is_adapter = move |device: &Object<'a>| match has_fabric {
            true => is_fabric(*device),
            false => is_interface(*device) && device.pci_device_above().is_some(),
        };
        let is_wanted = move |device: &Object<'a>| match device.link_state() {
            LinkState::Active => true,
            LinkState::Unknown => choice == NicChoice::ActiveOrUnknown,
            LinkState::Inactive => false,
        };
        // To ask for the state of a device takes longer than all else here.
        let is_first = move |device: &Object<'a>| {
            let pci = device.pci_device_above();
            let others = || pci.into_iter().flat_map(Object::io_children).filter(is_adapter);
            let first = || others().filter(is_wanted).min_by_key(|device| !is_cxi(*device));
            others().nth(1).is_none() || first().is_none_or(|first| first == *device)
        };
        all().filter(is_adapter).filter(is_wanted).filter(is_first)
    }

    /// The GPUs, in logical order. A GPU is several OS devices: this is the one of the best
    /// programming interface. If that has several, as of a partitioned GPU, each is one. A GPU that
    /// only the driver knows is a PCI device.
    ///
    /// If nobody knows a programming interface of any PCI device of the node, the GPUs are the PCI
    /// devices that only compute (classes 0302 and 1200). OS devices whose PCI device hwloc does not
    /// find, as of OpenCL on NVIDIA's, count only if there is no GPU else: they are the same ones.
    pub fn gpus(self) -> impl Iterator<Item = Object<'a>> {
        let pci_devices = move || self.objects_with_type(ObjectType::PCIDevice);
        let by_driver = move || pci_devices().filter(|pci| is_known_to_driver(*pci));
        let computes = move || {
            let class = |pci: &Object<'a>| pci.pci_attributes().map_or(0, |it| it.class_id);
            pci_devices().filter(move |pci| COMPUTES.contains(&class(pci)))
        };
        let is_known = self.gpus_on_pci().next().is_some() || by_driver().next().is_some();
        let is_alone = !is_known && computes().next().is_none();
        let by_class = (!is_known).then(computes).into_iter().flatten();
        let off_pci = is_alone.then(|| self.gpus_off_pci()).into_iter().flatten();
        self.gpus_on_pci().chain(by_driver()).chain(by_class).chain(off_pci)
    }

    /// The OS devices of GPUs whose PCI device is known: of each those of the best interface.
    fn gpus_on_pci(self) -> impl Iterator<Item = Object<'a>> {
        let is_best = |device: &Object<'a>| {
            let Some(own) = backend(*device) else { return false };
            let is_worse = |other: Object<'a>| backend(other).is_none_or(|other| other >= own);
            device.pci_device_above().is_some_and(|pci| pci.io_children().all(is_worse))
        };
        self.objects_with_type(ObjectType::OSDevice).filter(is_best)
    }

    /// The OS devices of GPUs whose PCI device is not known, of the best interface of all.
    fn gpus_off_pci(self) -> impl Iterator<Item = Object<'a>> {
        let devices = move || {
            let all = self.objects_with_type(ObjectType::OSDevice);
            all.filter(|device| device.pci_device_above().is_none())
        };
        let best = devices().filter_map(backend).min();
        devices().filter(move |device| best.is_some() && backend(*device) == best)
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
    /// interface; `None` if nobody knows.
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

    /// The interface by which IP goes over a network device: the device itself, or the one beside a
    /// CXI device of Slingshot, which has the same link. `None` if there is none.
    #[must_use]
    pub fn interface(self) -> Option<Self> {
        if !is_cxi(self) {
            return Some(self).filter(|it| is_interface(*it));
        }
        self.parent()?.io_children().find(|it| is_interface(*it) && !is_cxi(*it))
    }

    /// The IPv4 subnets of the interfaces of a NIC, of their VLANs and bonds, such as `10.1.0.0/16`. None if
    /// nobody knows: hwloc's XML has none.
    pub fn ip_subnets(self) -> impl Iterator<Item = &'a str> {
        let siblings = self.pci_device_above().into_iter().flat_map(Object::io_children);
        let interfaces = siblings.filter(|it| is_interface(*it));
        let told = interfaces.filter_map(|it| it.fact("IPSubnets"));
        told.flat_map(|list| list.split(','))
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

    /// The UUIDs of the instances of a GPU that NVIDIA's MIG parts; none if it is whole.
    pub fn mig_instances(self) -> impl Iterator<Item = &'a str> {
        let told = self.pci_device_above().and_then(|pci| pci.fact("MIGInstances"));
        told.into_iter().flat_map(|told| told.split(','))
    }

    /// The name by which users know a device: that of the OS device, else its PCI bus id. Empty for
    /// other objects.
    #[must_use]
    pub fn device_name(self) -> Cow<'a, str> {
        match (self.os_device_kind(), self.pci_attributes()) {
            (Some(_), _) => self.name().unwrap_or_default().into(),
            (None, Some(pci)) => pci.bus_id().to_string().into(),
            (None, None) => "".into(),
        }
    }
}

/// Whether the driver knows a PCI device as a GPU, and hwloc no programming interface of it.
fn is_known_to_driver(pci: Object<'_>) -> bool {
    pci.fact("NVMLNumber").is_some() && pci.io_children().all(|device| backend(device).is_none())
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
        && (device.subtype() == Some("Slingshot") || pci_vendor(device) == Some(CRAY))
}

/// The PCI vendor of a device.
pub(super) fn pci_vendor(device: Object<'_>) -> Option<u16> {
    device.pci_device_above()?.pci_attributes().map(|pci| pci.vendor_id)
}

/// Whether a device is the one by which libfabric knows a Slingshot NIC. hwloc 2.13 and later find it,
/// beside the interface for IP.
pub(crate) fn is_cxi(device: Object<'_>) -> bool {
    device.subtype() == Some("Slingshot") && device.name().is_some_and(|it| it.starts_with("cxi"))
}

/// The place of an OS device of a GPU in the order of programming interfaces; `None` if it is not of
/// a GPU, or is only its display.
fn backend(device: Object<'_>) -> Option<usize> {
    let kind = device.os_device_kind()?;
    // A part of a GPU, such as a tile, is below the OS device of the GPU.
    let is_part = device.parent().is_some_and(|it| it.object_type() == ObjectType::OSDevice);
    if is_part || !matches!(kind, OsDeviceKind::Gpu | OsDeviceKind::CoProcessor) {
        return None;
    }
    let subtype = device.subtype().or(device.info("Backend"));
    let place = BACKENDS.split(' ').position(|it| Some(it) == subtype);
    if device.info("OpenCLDeviceType").is_some_and(|it| it != "GPU") {
        return None;
    }
    place.or_else(|| {
        let Attributes::Pci(pci) = device.pci_device_above()?.attributes() else { return None };
        let is_render = device.name()?.starts_with("renderD");
        (is_render && pci.is_display()).then_some(usize::MAX)
    })
}

impl Object<'_> {
    /// The bus id of a PCI device, or of the PCI device that an OS device is of.
    #[must_use]
    pub fn bus_id(self) -> Option<BusId> {
        Some(self.pci_device_above()?.pci_attributes()?.bus_id())
    }
}
