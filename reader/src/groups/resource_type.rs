//! Types of hardware resources.

use crate::topology::Topology;
use core::fmt;
use topobroker_layout::attributes::Attributes;
use topobroker_layout::depth::Depth;
use topobroker_layout::object_type::ObjectType;

/// A type of hardware resource. Counterpart: the values of `mpi_hw_resource_type` in MPI 4.1.
///
/// A rank is on an instance of a type of objects if all PUs that it is bound to are in the
/// instance. It is on a device if it was given that one and no other of the type, and on what
/// devices hang on if all devices that it was given hang on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResourceType {
    /// Objects of a type of the tree of CPUs, NUMA nodes or memory-side caches.
    Object(ObjectType),
    /// Groups of a level: `Group0` are the outermost. `None` are all groups of a topology that has
    /// one level of them.
    Group(Option<u32>),
    /// Host bridges, which connect PCI buses to CPUs.
    HostBridge,
    /// PCI switches. Of switches below each other, the lowest one counts.
    PciSwitch,
    /// GPUs that are connected by NVLink, directly or through others. All `NVSwitch` devices of a
    /// node count as connected, and all GPUs of a domain over nodes
    /// ([`Job::nvlink_domain`](crate::jobs::Job::nvlink_domain)).
    NvLinkDomain,
    /// GPUs that are connected by XGMI, directly or through others.
    XgmiHive,
    /// NICs that ranks were given.
    Nic,
    /// GPUs that ranks were given.
    Gpu,
    /// The same PUs. Counterpart: MPICH's `bindset`.
    Binding,
    /// The whole job on this node.
    Job,
}

/// The types of hwloc below the machine and groups, in hwloc's order of types.
const INNER: [ObjectType; 14] = [
    ObjectType::MemCache,
    ObjectType::NUMANode,
    ObjectType::Package,
    ObjectType::Die,
    ObjectType::L5Cache,
    ObjectType::L4Cache,
    ObjectType::L3Cache,
    ObjectType::L3ICache,
    ObjectType::L2Cache,
    ObjectType::L2ICache,
    ObjectType::L1Cache,
    ObjectType::L1ICache,
    ObjectType::Core,
    ObjectType::PU,
];

/// The provider of hwloc's types.
pub(super) const HWLOC: &str = "hwloc";

/// The provider of the other ones.
pub(super) const TOPOBROKER: &str = "topobroker";

impl ResourceType {
    /// The types that are no objects of hwloc.
    pub(super) const OWN: [Self; 8] = [
        Self::Job,
        Self::HostBridge,
        Self::PciSwitch,
        Self::NvLinkDomain,
        Self::XgmiHive,
        Self::Nic,
        Self::Gpu,
        Self::Binding,
    ];

    /// Who defines the type: the scheme of its URI.
    #[must_use]
    pub fn provider(self) -> &'static str {
        match self {
            Self::Object(_) | Self::Group(_) => HWLOC,
            _ => TOPOBROKER,
        }
    }

    /// Name of the type, as hwloc prints it; without the level of groups.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Object(kind) => kind.name(),
            Self::Group(_) => ObjectType::Group.name(),
            Self::HostBridge => "HostBridge",
            Self::PciSwitch => "PCISwitch",
            Self::NvLinkDomain => "NVLinkDomain",
            Self::XgmiHive => "XGMIHive",
            Self::Nic => "NIC",
            Self::Gpu => "GPU",
            Self::Binding => "Binding",
            Self::Job => "Job",
        }
    }

    /// The types of hwloc of which a topology has objects with PUs, in hwloc's order
    /// of types.
    pub(super) fn of_hwloc(topology: Topology<'_>) -> impl Iterator<Item = Self> {
        let has_pus = move |kind: &ObjectType| {
            topology.objects_with_type(*kind).any(|it| it.cpuset_weight() != Some(0))
        };
        core::iter::once(Self::Object(ObjectType::Machine))
            .chain(group_levels(topology).map(|level| Self::Group(Some(level))))
            .chain(INNER.into_iter().filter(has_pus).map(Self::Object))
    }
}

impl fmt::Display for ResourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(Some(level)) => write!(f, "{}{level}", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

/// The levels of which a topology has groups with PUs, from the outermost.
pub(super) fn group_levels(topology: Topology<'_>) -> impl Iterator<Item = u32> {
    let depths = (0..topology.depth()).map(Depth::Normal);
    let depths = depths.filter(move |depth| topology.depth_type(*depth) == Some(ObjectType::Group));
    depths.filter_map(move |depth| {
        let mut groups = topology.objects_at_depth(depth);
        match groups.find(|it| it.cpuset_weight() != Some(0))?.attributes() {
            Attributes::Group(group) if group.depth != u32::MAX => Some(group.depth),
            _ => None,
        }
    })
}
