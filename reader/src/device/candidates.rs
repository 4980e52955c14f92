//! The NICs and GPUs that ranks may be given: one of each, though an adapter is several OS devices.

use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::attributes::{Attributes, OsDeviceKind};
use topobroker_layout::object_type::ObjectType;

/// Whether a network device is ready for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// It has an active port, or is an interface that is up.
    Active,
    /// It has no active port, or is an interface that is down.
    Inactive,
    /// Nobody knows.
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

/// Subtypes of OS devices by which programs compute on GPUs, the best first.
const BACKENDS: &str = "CUDA NVML RSMI AMDSMI LevelZero OpenCL";

/// PCI class of displays.
const DISPLAY: u16 = 0x03;

impl<'a> Topology<'a> {
    /// The NICs that ranks may be given, in logical order: one of each PCI device. They are
    /// OpenFabrics devices if there are any, else network interfaces.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// use topobroker_reader::NicChoice;
    /// for nic in topology.nics(NicChoice::Active) {
    ///     println!("{}: {:?} Mb/s", nic.name().unwrap_or_default(), nic.link_mbps());
    /// }
    /// ```
    pub fn nics(self, choice: NicChoice) -> impl Iterator<Item = Object<'a>> {
        let devices = move |kind| {
            let all = self.objects_with_type(ObjectType::OSDevice);
            let may_be_given = move |device: &Object<'a>| match device.link_state() {
                LinkState::Active => true,
                LinkState::Unknown => choice == NicChoice::ActiveOrUnknown,
                LinkState::Inactive => false,
            };
            all.filter(move |it| kind_of(*it) == Some(kind) && may_be_given(it))
        };
        let has_fabric = devices(OsDeviceKind::OpenFabrics).next().is_some();
        let kind = if has_fabric { OsDeviceKind::OpenFabrics } else { OsDeviceKind::Network };
        // An interface beside the PCI devices is no adapter: a bridge, or the loop-back interface.
        let is_adapter =
            move |device: &Object<'a>| has_fabric || device.pci_device_above().is_some();
        let is_first = move |device: &Object<'a>| {
            let pci = device.pci_device_above();
            let mut before = devices(kind).take_while(|it| it != device);
            pci.is_none() || !before.any(|it| it.pci_device_above() == pci)
        };
        devices(kind).filter(is_adapter).filter(is_first)
    }

    /// The GPUs that ranks may be given, in logical order. A GPU is several OS devices: this is the
    /// one of the best programming interface. If that has several, as of a partitioned GPU, each is
    /// one.
    pub fn gpus(self) -> impl Iterator<Item = Object<'a>> {
        let devices = move || {
            let all = self.objects_with_type(ObjectType::OSDevice);
            all.filter_map(|it| Some((it, it.pci_device_above(), backend(it)?)))
        };
        let is_best = move |(_, pci, backend): &(_, Option<Object<'a>>, usize)| {
            let mut beside = devices().filter(|(_, other, _)| other == pci);
            pci.is_none() || beside.all(|(_, _, other)| other >= *backend)
        };
        devices().filter(is_best).map(|(device, ..)| device)
    }
}

impl<'a> Object<'a> {
    /// Whether a network device is ready for messages. Other objects are of unknown state.
    #[must_use]
    pub fn link_state(self) -> LinkState {
        match kind_of(self) {
            Some(OsDeviceKind::OpenFabrics) => {
                let mut ports = self.ports().map(|port| port.state());
                match () {
                    () if self.ports().any(|port| port.is_active()) => LinkState::Active,
                    () if self.ports().next().is_none() => LinkState::Unknown,
                    () if ports.any(|state| state.is_none()) => LinkState::Unknown,
                    () => LinkState::Inactive,
                }
            }
            Some(OsDeviceKind::Network) => match self.fact("OperState") {
                Some("up") => LinkState::Active,
                None | Some("unknown") => LinkState::Unknown,
                Some(_) => LinkState::Inactive,
            },
            _ => LinkState::Unknown,
        }
    }

    /// The rate in Mb/s of the fastest active port of an OpenFabrics device, or of a network
    /// interface; `None` if nobody knows.
    #[must_use]
    pub fn link_mbps(self) -> Option<u64> {
        match kind_of(self)? {
            OsDeviceKind::OpenFabrics => {
                let active = self.ports().filter(|port| port.is_active());
                active.filter_map(|port| port.rate_mbps()).max()
            }
            OsDeviceKind::Network => self.fact("Speed")?.parse().ok(),
            _ => None,
        }
    }

    /// The PCI device that this is a part of.
    #[must_use]
    pub fn pci_device_above(self) -> Option<Self> {
        self.ancestors().find(|it| it.object_type() == ObjectType::PCIDevice)
    }
}

fn kind_of(object: Object<'_>) -> Option<OsDeviceKind> {
    match object.attributes() {
        Attributes::OsDevice { kind } => Some(kind),
        _ => None,
    }
}

/// The place of an OS device of a GPU in the order of programming interfaces; `None` if it is not of
/// a GPU, or is only its display.
fn backend(device: Object<'_>) -> Option<usize> {
    let kind = kind_of(device)?;
    if !matches!(kind, OsDeviceKind::Gpu | OsDeviceKind::CoProcessor) {
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
        (is_render && pci.class_id >> 8 == DISPLAY).then_some(usize::MAX)
    })
}

/// Domain, bus, device and function; devices that are not on PCI come last.
pub(super) fn bus_id(device: Object<'_>) -> (u32, u32) {
    match device.pci_device_above().map(Object::attributes) {
        Some(Attributes::Pci(pci)) => (pci.domain, pci.bus_id()),
        _ => (u32::MAX, u32::MAX),
    }
}
