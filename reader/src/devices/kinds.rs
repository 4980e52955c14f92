//! Kinds of devices, as PMIx has them.

use core::ops::BitOr;
use topobroker_layout::attributes::OsDeviceKind;

/// Kinds of devices to which PMIx gives a distance. Counterpart: `pmix_device_type_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceKinds(u64);

impl DeviceKinds {
    /// GPUs. Counterpart: `PMIX_DEVTYPE_GPU`.
    pub const GPU: Self = Self(2);
    /// Network interfaces. Counterpart: `PMIX_DEVTYPE_NETWORK`.
    pub const NETWORK: Self = Self(4);
    /// OpenFabrics devices. Counterpart: `PMIX_DEVTYPE_OPENFABRICS`.
    pub const OPEN_FABRICS: Self = Self(8);
    /// Co-processors: GPUs by CUDA, OpenCL or Level Zero. Only PMIx 7 gives them a distance.
    /// Counterpart: `PMIX_DEVTYPE_COPROC`.
    pub const CO_PROCESSOR: Self = Self(32);
    /// Disks. Only PMIx 7 gives them a distance, if they are asked for. Counterpart:
    /// `PMIX_DEVTYPE_BLOCK`.
    pub const BLOCK: Self = Self(1);
    /// All but disks.
    pub const ALL: Self = Self(46);

    /// The kinds with these bits; `None` if there are none, or others.
    #[must_use]
    pub fn from_bits(bits: u64) -> Option<Self> {
        (bits != 0 && (Self::ALL | Self::BLOCK).has(Self(bits))).then_some(Self(bits))
    }

    /// The bits, as PMIx has them.
    #[must_use]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The kind of an OS device; `None` for one to which PMIx gives no distance.
    #[must_use]
    pub fn of(kind: OsDeviceKind) -> Option<Self> {
        match kind {
            OsDeviceKind::Gpu => Some(Self::GPU),
            OsDeviceKind::Network => Some(Self::NETWORK),
            OsDeviceKind::OpenFabrics => Some(Self::OPEN_FABRICS),
            OsDeviceKind::CoProcessor => Some(Self::CO_PROCESSOR),
            OsDeviceKind::Block => Some(Self::BLOCK),
            _ => None,
        }
    }

    /// Whether all of `kinds` are among these.
    #[must_use]
    pub fn has(self, kinds: Self) -> bool {
        self.0 & kinds.0 == kinds.0
    }

    /// Whether some of `kinds` are among these.
    #[must_use]
    pub fn has_some(self, kinds: Self) -> bool {
        self.0 & kinds.0 != 0
    }
}

impl BitOr for DeviceKinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
