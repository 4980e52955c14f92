//! Distances of devices that mean something: what a process shares with a device, the latency of
//! memory, PCI hops, the speed of the link.

use super::candidates::LinkState;
use super::network::NetworkId;
use super::virtual_functions::has_physical_function;
use crate::object::Object;
use crate::topology::Topology;
use topobroker_layout::object_type::ObjectType;
use topobroker_layout::set::Set;

/// Which PUs of a process are local to a device, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nearness {
    /// All PUs are local to the device.
    Near,
    /// Some are local to it.
    Split,
    /// No PU is local to it, but one is on its package.
    SamePackage,
    /// No PU is local to it or on its package.
    Far,
    /// The machine does not report to which PUs the device is local.
    Unknown,
}

/// What is between a process and a device. A value that the machine does not report is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DevicePath {
    /// Which PUs of the process are local to the device.
    pub nearness: Nearness,
    /// The latency from the NUMA nodes of the process to the nearest node of the device; that of
    /// the farthest node, if the process has several. It is hwloc's `NUMALatency`, relative to 10
    /// for local memory.
    pub latency: Option<u64>,
    /// Number of bridges between the device and the CPUs, with the host bridge.
    pub pci_hops: u32,
    /// The slowest link between the device and the CPUs whose speed is known, in GB/s for each
    /// direction.
    pub linkspeed: Option<f32>,
}

impl Nearness {
    /// The nearness of a device whose place is known or not, by what a process has of it: whether
    /// all PUs of the process are local to the device, whether some are, and whether some are on
    /// its package.
    pub(super) fn of(
        is_known: bool,
        has_all: impl FnOnce() -> bool,
        has_some: impl FnOnce() -> bool,
        is_on_package: impl FnOnce() -> bool,
    ) -> Self {
        match () {
            () if !is_known => Self::Unknown,
            () if has_all() => Self::Near,
            () if has_some() => Self::Split,
            () if is_on_package() => Self::SamePackage,
            () => Self::Far,
        }
    }
}

impl<'a> Topology<'a> {
    /// What is between a process that is bound to a set and a device. Counterparts: openib's and
    /// UCX's distances; `nvidia-smi topo -m`.
    ///
    /// ```
    /// # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documentation/example_machine.rs"));
    /// if let Some(nic) = topology.os_device("eth0") {
    ///     let path = topology.device_path(&[0].into_iter().collect(), nic);
    ///     println!("{:?}, {} bridges", path.nearness, path.pci_hops);
    /// }
    /// ```
    #[must_use]
    pub fn device_path(self, set: &Set, device: Object<'a>) -> DevicePath {
        let local = device.non_io_ancestor();
        let bridges = || device.ancestors().take_while(|it| *it != local);
        let speeds = core::iter::once(device).chain(bridges()).filter_map(linkspeed);
        let is_bridge = |it: &Object<'_>| it.object_type() == ObjectType::Bridge;
        DevicePath {
            nearness: self.nearness(set, device, local),
            latency: self.latency(set, local),
            pci_hops: u32::try_from(bridges().filter(is_bridge).count()).unwrap_or(u32::MAX),
            linkspeed: speeds.reduce(f32::min),
        }
    }

    /// A NIC that is nearer to a process than the one that it has, and down: the nearest of those
    /// of the same kind of network. `None` if there is none, or the NIC is of plain Ethernet.
    #[must_use]
    pub fn nearer_but_down(self, set: &Set, nic: Object<'a>) -> Option<Object<'a>> {
        let distance = |nic: Object<'a>| {
            let path = self.device_path(set, nic);
            (path.nearness, path.latency)
        };
        let kind = |nic: Object<'_>| NetworkId::of(nic).map(NetworkId::kind);
        let own = kind(nic).filter(|own| *own != NetworkId::Ethernet(None).kind());
        let all = self.objects_with_type(ObjectType::OSDevice).filter(|_| own.is_some());
        let alike = all.filter(|it| kind(*it) == own && !has_physical_function(*it));
        let down = alike.filter(|it| it.link_state() == LinkState::Inactive);
        let nearer = down.filter(|it| distance(*it) < distance(nic));
        nearer.min_by_key(|it| distance(*it))
    }

    fn nearness(self, set: &Set, device: Object<'a>, local: Object<'a>) -> Nearness {
        let package = || local.ancestor_with_type(ObjectType::Package);
        Nearness::of(
            self.has_place(device),
            || local.covers(set) && !set.is_empty(),
            || local.intersects(set),
            || package().is_some_and(|it| it.intersects(set)),
        )
    }

    /// The latency from the NUMA nodes of a set to the nearest node of an object.
    fn latency(self, set: &Set, local: Object<'a>) -> Option<u64> {
        let nodes = self.objects_with_type(ObjectType::NUMANode);
        farthest(nodes.filter(|node| node.intersects(set)).map(self.latency_to(local)))
    }

    /// The latency from a NUMA node to the nearest node of an object. An object with all of several
    /// nodes is near to none.
    pub(super) fn latency_to(
        self,
        local: Object<'a>,
    ) -> impl Fn(Object<'a>) -> Option<u64> + use<'a> {
        let nodes = move || self.objects_with_type(ObjectType::NUMANode);
        let theirs = local.nodeset().unwrap_or_default();
        let is_theirs =
            move |node: &Object<'_>| node.os_index().is_some_and(|it| theirs.contains(it));
        let is_near_one = !nodes().all(|node| is_theirs(&node));
        let matrix = self.distances_with_name("NUMALatency").next().filter(|_| is_near_one);
        let mut to = nodes().filter(&is_theirs);
        // Mostly there is one: its column is found once.
        let only = to.next().filter(|_| to.next().is_none()).and_then(|to| matrix?.index_of(to));
        move |from| {
            let (matrix, row) = (matrix?, matrix?.index_of(from)?);
            if let Some(only) = only {
                return matrix.value(row, only);
            }
            let to = nodes().filter(&is_theirs);
            to.filter_map(|to| matrix.value(row, matrix.index_of(to)?)).min()
        }
    }
}

/// The greatest latency; `None` if there is none, or one is unknown.
pub(super) fn farthest(latencies: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let mut latencies = latencies;
    latencies.try_fold(None, |most, latency| Some(most.max(Some(latency?))))?
}

/// The speed of the link above a PCI device or bridge, if it is known.
fn linkspeed(object: Object<'_>) -> Option<f32> {
    object.pci_attributes().map(|pci| pci.linkspeed).filter(|speed| *speed > 0.0)
}
