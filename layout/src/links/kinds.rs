//! What vertices and links are, and where the values of links are from. A segment of links has the
//! places in the lists `ALL`.

/// What a vertex of the graph of links is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VertexKind {
    /// CPUs that memory or devices hang on.
    Cpu,
    /// What connects the CPUs of a package, or packages.
    Mesh,
    /// A NUMA node, or the memory of a GPU.
    Memory,
    /// A host bridge.
    HostBridge,
    /// A PCI switch.
    PciSwitch,
    /// A GPU, or a part of one that programs see as a GPU.
    Gpu,
    /// A NIC.
    Nic,
    /// A disk.
    Block,
    /// A switch of links between GPUs.
    NvSwitch,
    /// A switch of the network.
    NetSwitch,
    /// Something on another node.
    Remote,
}

/// What a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkClass {
    /// Within one device.
    Loc,
    /// To memory.
    Mem,
    /// Within a package, or from it to a host bridge.
    Cpu,
    /// Between packages.
    Smp,
    /// PCI.
    Pci,
    /// NVIDIA's between GPUs, switches and CPUs.
    NvLink,
    /// AMD's between GPUs and CPUs.
    Xgmi,
    /// NVIDIA's between a CPU and a GPU in one package.
    C2c,
    /// Intel's between GPUs.
    XeLink,
    /// A network.
    Fabric,
}

/// Where the values of a link are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkOrigin {
    /// hwloc reports the link.
    Reported,
    /// The speed that the link had when the topology was published: it may have been asleep.
    Current,
    /// The greatest speed of both ends.
    Maximum,
    /// Follows from how such machines are built.
    Assumed,
    /// The administrator told it.
    Told,
    /// Was measured.
    Measured,
}

impl VertexKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Cpu,
        Self::Mesh,
        Self::Memory,
        Self::HostBridge,
        Self::PciSwitch,
        Self::Gpu,
        Self::Nic,
        Self::Block,
        Self::NvSwitch,
        Self::NetSwitch,
        Self::Remote,
    ];

    /// The kind as a word: `pciswitch`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Mesh => "mesh",
            Self::Memory => "memory",
            Self::HostBridge => "hostbridge",
            Self::PciSwitch => "pciswitch",
            Self::Gpu => "gpu",
            Self::Nic => "nic",
            Self::Block => "block",
            Self::NvSwitch => "nvswitch",
            Self::NetSwitch => "netswitch",
            Self::Remote => "remote",
        }
    }
}

impl LinkOrigin {
    /// All origins.
    pub const ALL: [Self; 6] =
        [Self::Reported, Self::Current, Self::Maximum, Self::Assumed, Self::Told, Self::Measured];

    /// The origin as a word: `reported`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Current => "current",
            Self::Maximum => "maximum",
            Self::Assumed => "assumed",
            Self::Told => "told",
            Self::Measured => "measured",
        }
    }
}

impl LinkClass {
    /// The class as a word: `NVL`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loc => "LOC",
            Self::Mem => "MEM",
            Self::Cpu => "CPU",
            Self::Smp => "SMP",
            Self::Pci => "PCI",
            Self::NvLink => "NVL",
            Self::Xgmi => "XGMI",
            Self::C2c => "C2C",
            Self::XeLink => "XE",
            Self::Fabric => "FAB",
        }
    }

    /// All classes.
    pub const ALL: [Self; 10] = [
        Self::Loc,
        Self::Mem,
        Self::Cpu,
        Self::Smp,
        Self::Pci,
        Self::NvLink,
        Self::Xgmi,
        Self::C2c,
        Self::XeLink,
        Self::Fabric,
    ];
}
