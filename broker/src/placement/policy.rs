//! How ranks are mapped, bound and numbered.

use std::fmt;
use topobroker_reader::ObjectType;

/// How the ranks of a job are placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// How ranks are mapped.
    pub map: MapBy,
    /// How ranks are numbered; `None` for the default of PRRTE: one object after the other, if
    /// ranks are mapped by objects, otherwise in the order in which they are mapped.
    pub rank: Option<RankBy>,
    /// What ranks are bound to.
    pub bind: BindTo,
    /// Number of cores of each rank, or of hardware threads if ranks are bound to these: `PE=n`.
    pub cpus: usize,
    /// Whether hardware threads are counted, and not cores: `HWTCPUS`.
    pub threads: bool,
    /// Whether the objects of all nodes are mapped to as if they were of one node: `SPAN`.
    pub span: bool,
    /// Whether more ranks may be bound to an object than it has cores or PUs.
    pub overload: bool,
    /// Whether there may be more ranks than cores: `OVERSUBSCRIBE`. They are not bound then, unless
    /// a binding is asked for.
    pub oversubscribe: bool,
    /// Whose rules are followed.
    pub rules: Rules,
}

/// Whose rules are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rules {
    /// PRRTE 5, of Open MPI 6.
    #[default]
    Prrte5,
    /// PRRTE 3, of Open MPI 5.
    Prrte3,
    /// `mpirun` of Open MPI 4.1. Devices are mapped by as in PRRTE 5, because it cannot.
    Mpirun4,
}

/// How ranks are mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapBy {
    /// Round robin over the objects of a type.
    Object(ObjectType),
    /// One after the other, over the whole topology.
    Slot,
    /// As many on each node of a job.
    Node,
    /// This many ranks on each resource, one after the other: `ppr:2:package`.
    Ppr(usize, Resource),
    /// Each rank on the next CPU of a list.
    CpuList,
    /// Round robin over devices, each rank on the PUs near its device.
    Device(DeviceMap),
}

/// What the N of `ppr:N:RESOURCE` ranks share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// A node.
    Node,
    /// An object of a type.
    Object(ObjectType),
    /// A device, or several.
    Device(DeviceMap),
}

/// Devices that ranks are mapped by, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceMap {
    /// The devices.
    pub devices: Devices,
    /// Whether there may be more ranks than devices: `SHARED`.
    pub shared: bool,
    /// Whether ranks may be bound to more than what is near their devices: `gpu` alone, PRRTE
    /// refuses it.
    pub is_wide: bool,
    /// The type of the objects whose devices are taken in turn: `interleave=numa`; packages by
    /// default.
    pub interleave: Option<ObjectType>,
    /// How many devices each rank has: `NDEV=2`.
    pub each: usize,
}

/// Devices, as PRRTE 5 names them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Devices {
    /// The GPUs ([`Topology::gpus`](topobroker_reader::Topology::gpus)).
    Gpus,
    /// The cards with an OpenFabrics device or a network interface, whatever their state is.
    Network,
    /// The cards with a disk.
    Block,
    /// One device, by its name, its PCI bus id or the UUID of a GPU. All ranks are near it.
    Named(String),
}

/// How ranks are numbered. Counterpart: `--rank-by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankBy {
    /// One node after the other, in the order in which ranks are mapped.
    Slot,
    /// One of each node in turn.
    Node,
    /// One object after the other.
    Fill,
    /// One of each object in turn, over all nodes.
    Span,
}

/// What ranks are bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindTo {
    /// The default of the launcher, which depends on the mapping and on the number of ranks.
    Usual,
    /// Nothing: all PUs of the job.
    None,
    /// One object of a type.
    Object(ObjectType),
    /// The PUs near the GPU that the rank is given.
    Gpu,
}

/// Types of objects by the names of `mpirun`. `socket` is its older name of packages.
const OBJECTS: [(&str, ObjectType); 12] = [
    ("hwthread", ObjectType::PU),
    ("core", ObjectType::Core),
    ("l1cache", ObjectType::L1Cache),
    ("l2cache", ObjectType::L2Cache),
    ("l3cache", ObjectType::L3Cache),
    ("numa", ObjectType::NUMANode),
    ("package", ObjectType::Package),
    ("socket", ObjectType::Package),
    ("l1", ObjectType::L1Cache),
    ("l2", ObjectType::L2Cache),
    ("l3", ObjectType::L3Cache),
    ("node", ObjectType::Machine),
];

pub(super) fn name_of(kind: ObjectType) -> &'static str {
    OBJECTS.into_iter().find(|(_, other)| *other == kind).map_or(kind.name(), |(name, _)| name)
}

pub(super) fn object(name: &str) -> Option<ObjectType> {
    OBJECTS.into_iter().find(|(other, _)| name.eq_ignore_ascii_case(other)).map(|(_, kind)| kind)
}

impl Policy {
    /// Whether ranks are mapped by devices.
    #[must_use]
    pub fn is_by_devices(&self) -> bool {
        matches!(self.map, MapBy::Device(_) | MapBy::Ppr(_, Resource::Device(_)))
    }

    /// What PRRTE binds so many ranks to, if no binding is asked for: ranks that are mapped by
    /// objects to these, up to two others to cores, and more to NUMA nodes.
    pub(super) fn binding_of_prrte(&self, ranks: usize) -> BindTo {
        let cpu = if self.threads { ObjectType::PU } else { ObjectType::Core };
        match (&self.map, self.bind) {
            (_, bind) if bind != BindTo::Usual => bind,
            _ if self.oversubscribe => BindTo::None,
            _ if self.cpus > 1 => BindTo::Object(cpu),
            (MapBy::Object(kind) | MapBy::Ppr(_, Resource::Object(kind)), _) => {
                BindTo::Object(*kind)
            }
            (MapBy::Device(DeviceMap { is_wide: true, .. }), _) => BindTo::Gpu,
            _ if ranks <= 2 => BindTo::Object(cpu),
            _ => BindTo::Object(ObjectType::NUMANode),
        }
    }
}

impl RankBy {
    /// The word of `--rank-by`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slot => "slot",
            Self::Node => "node",
            Self::Fill => "fill",
            Self::Span => "span",
        }
    }
}

/// `gpu`, `network`, `block`, or the name.
impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gpus => "gpu",
            Self::Network => "network",
            Self::Block => "block",
            Self::Named(name) => name,
        })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.map {
            MapBy::Object(kind) => f.write_str(name_of(*kind))?,
            MapBy::Slot => f.write_str("slot")?,
            MapBy::Node => f.write_str("node")?,
            MapBy::CpuList => f.write_str("cpu-list")?,
            MapBy::Device(map) => write!(f, "{map}")?,
            MapBy::Ppr(each, resource) => write!(f, "ppr:{each}:{resource}")?,
        }
        if self.cpus > 1 { write!(f, ":PE={}", self.cpus) } else { Ok(()) }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node => f.write_str("node"),
            Self::Object(kind) => f.write_str(name_of(*kind)),
            Self::Device(map) => write!(f, "{map}"),
        }
    }
}

impl fmt::Display for DeviceMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_wide {
            return f.write_str("gpu");
        }
        write!(f, "device={}", self.devices)?;
        if let Some(kind) = self.interleave {
            write!(f, ":interleave={}", name_of(kind))?;
        }
        if self.each > 1 {
            write!(f, ":ndev={}", self.each)?;
        }
        if self.shared { f.write_str(":SHARED") } else { Ok(()) }
    }
}
