//! GPUs that are connected by links of their own, directly or through others.

use crate::object::Object;
use crate::tables::Distances;
use crate::topology::Topology;
use topobroker_layout::attributes::{Attributes, vendor};

/// Kinds of links between GPUs, of which hwloc has a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum GpuLink {
    /// NVIDIA's.
    NvLink,
    /// AMD's.
    Xgmi,
    /// Intel's.
    XeLink,
}

/// Which GPUs are connected.
pub(crate) struct Domains<'a> {
    /// The distinct domains that the driver reports, the first GPU's first. Empty texts follow.
    names: [&'a str; MOST_NAMES],
    matrix: Option<Distances<'a>>,
    /// By row of the matrix: the number of its domain among those of the matrix, or [`NONE`].
    domain: [u16; MOST],
}

/// Stands for the domain of a GPU without links.
const NONE: u16 = u16::MAX;

/// The greatest number of rows that are looked at. No node has as many GPUs.
const MOST: usize = 512;

/// The greatest number of domains of a node that the driver reports. Nearly all nodes are in one.
const MOST_NAMES: usize = 16;

impl GpuLink {
    pub(crate) const ALL: [Self; 3] = [Self::NvLink, Self::Xgmi, Self::XeLink];

    /// hwloc's name of the matrix of bandwidths.
    #[must_use]
    pub(crate) fn matrix(self) -> &'static str {
        match self {
            Self::NvLink => "NVLinkBandwidth",
            Self::Xgmi => "XGMIBandwidth",
            Self::XeLink => "XeLinkBandwidth",
        }
    }
}

impl<'a> Domains<'a> {
    /// `None` if the machine does not report links of this kind.
    pub(crate) fn new(topology: Topology<'a>, link: GpuLink) -> Option<Self> {
        let mut names = [""; MOST_NAMES];
        let gpus = (link == GpuLink::NvLink).then(|| topology.gpus());
        for name in gpus.into_iter().flatten().filter_map(Object::nvlink_domain) {
            let place = names.iter().position(|it| it.is_empty() || *it == name);
            place.and_then(|place| names.get_mut(place)).into_iter().for_each(|it| *it = name);
        }
        let matrix = topology.distances_with_name(link.matrix()).next();
        let domain = matrix.map_or([NONE; MOST], connected);
        let is_known = matrix.is_some() || names.first() != Some(&"");
        is_known.then_some(Self { names, matrix, domain })
    }

    /// The number of the domain of a GPU: those that the driver reports come first, and domains are
    /// numbered by their first GPU. `None` if the GPU has no links.
    pub(crate) fn number(&self, gpu: Object<'a>) -> Option<u32> {
        let number = match gpu.nvlink_domain() {
            Some(name) => self.names.iter().position(|it| *it == name)?,
            None => {
                let domain = *self.domain.get(row(self.matrix?, gpu)?)?;
                let names = self.names.iter().take_while(|it| !it.is_empty()).count();
                Some(names + usize::from(domain)).filter(|_| domain != NONE)?
            }
        };
        u32::try_from(number).ok()
    }
}

/// The row of a GPU: its own, or that of another OS device of the same PCI device.
fn row<'a>(matrix: Distances<'a>, gpu: Object<'a>) -> Option<usize> {
    matrix.index_of(gpu).or_else(|| {
        let pci = gpu.pci_device_above()?;
        matrix.objects().position(|it| it.pci_device_above() == Some(pci))
    })
}

/// By row of a matrix: the number of its domain, or [`NONE`].
fn connected(matrix: Distances<'_>) -> [u16; MOST] {
    let count = matrix.objects().count().min(MOST);
    let rows = || (0u16..).take(count);
    let is_linked = |one: u16, other: u16| {
        let value = |from, to| matrix.value(usize::from(from), usize::from(to));
        [value(one, other), value(other, one)].into_iter().flatten().any(|value| value > 0)
    };
    let mut first = FirstConnected([0; MOST]);
    first.0.iter_mut().zip(rows()).for_each(|(first, row)| *first = row);
    let switch =
        |row: &u16| matrix.objects().nth(usize::from(*row)).is_some_and(Object::is_gpu_switch);
    if let Some(one) = rows().find(switch) {
        rows().filter(switch).for_each(|other| first.connect(one, other));
    }
    for (one, other) in rows().flat_map(|one| (0..one).map(move |other| (one, other))) {
        if is_linked(one, other) {
            first.connect(one, other);
        }
    }
    let mut domain = [NONE; MOST];
    let mut number = 0;
    for row in rows() {
        let members = || rows().filter(|other| first.of(*other) == row);
        if members().nth(1).is_none() {
            continue;
        }
        for member in members() {
            domain.get_mut(usize::from(member)).into_iter().for_each(|it| *it = number);
        }
        number += 1;
    }
    domain
}

/// By row of a matrix: the first row that it is connected with.
struct FirstConnected([u16; MOST]);

impl FirstConnected {
    fn of(&self, row: u16) -> u16 {
        self.0.get(usize::from(row)).copied().unwrap_or(row)
    }

    fn connect(&mut self, one: u16, other: u16) {
        let (low, high) = (self.of(one).min(self.of(other)), self.of(one).max(self.of(other)));
        if low == high {
            return;
        }
        self.0.iter_mut().filter(|first| **first == high).for_each(|first| *first = low);
    }
}

impl<'a> Topology<'a> {
    /// The bandwidth of the links of their own between two GPUs, in MB/s, as hwloc's matrices have
    /// it; 0 if there are none, or a switch is between them.
    pub(super) fn link_bandwidth(self, one: Object<'a>, other: Object<'a>) -> u64 {
        let matrices = GpuLink::ALL.into_iter();
        let matrices = matrices.filter_map(|it| self.distances_with_name(it.matrix()).next());
        let found = matrices.filter_map(|it| it.value(row(it, one)?, row(it, other)?));
        found.fold(0, u64::saturating_add)
    }

    /// The NVLink domain over nodes that all GPUs of the node are in ([`Object::nvlink_domain`]);
    /// `None` if they are in none, or in several.
    #[must_use]
    pub fn nvlink_domain(self) -> Option<&'a str> {
        nvlink_domain_of(self.gpus())
    }
}

/// The NVLink domain over nodes that all of some GPUs are in.
pub(crate) fn nvlink_domain_of<'a>(gpus: impl Iterator<Item = Object<'a>>) -> Option<&'a str> {
    let mut domains = gpus.map(Object::nvlink_domain);
    let first = domains.next()??;
    domains.all(|domain| domain == Some(first)).then_some(first)
}

impl<'a> Object<'a> {
    /// The NVLink domain of a GPU of NVIDIA whose NVLinks leave the node: GPUs of all nodes with
    /// the same name reach each other by NVLink. It is the UUID of the cluster of NVLinks, a dot,
    /// and the number of its clique. `None` if the driver reports none. Counterpart:
    /// `nvmlDeviceGetGpuFabricInfo`.
    #[must_use]
    pub fn nvlink_domain(self) -> Option<&'a str> {
        self.pci_device_above()?.fact("NVLinkDomain")
    }

    /// Whether a PCI device connects GPUs and is none, as an NVSwitch. hwloc's subtype is from
    /// NVIDIA's library; without that, vendor and class say it: no other bridge of this vendor has
    /// so high a number.
    #[must_use]
    pub fn is_gpu_switch(self) -> bool {
        let is_by_numbers = || match self.attributes() {
            Attributes::Pci(pci) => {
                (pci.vendor_id, pci.class_id) == (vendor::NVIDIA, 0x0680) && pci.device_id >= 0x1a00
            }
            _ => false,
        };
        self.subtype() == Some("NVSwitch") || is_by_numbers()
    }
}
