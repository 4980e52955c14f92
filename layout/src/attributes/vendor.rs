//! PCI ids of vendors of GPUs.

/// NVIDIA.
pub const NVIDIA: u16 = 0x10de;
/// AMD.
pub const AMD: u16 = 0x1002;
/// Intel.
pub const INTEL: u16 = 0x8086;
