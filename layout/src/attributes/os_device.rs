//! Kinds of OS devices.

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

    /// Whether messages go over it: a network interface, or an OpenFabrics device.
    #[must_use]
    pub const fn is_network(self) -> bool {
        matches!(self, Self::Network | Self::OpenFabrics)
    }

    /// The kind with hwloc's number.
    #[must_use]
    pub fn from_raw(raw: u32) -> Self {
        Self::ALL.into_iter().find(|kind| kind.raw() == raw).unwrap_or(Self::Other(raw))
    }

    /// Its name: `block`, `gpu`, `network`, `openfabrics`, `dma` or `coproc`, otherwise `other`.
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
