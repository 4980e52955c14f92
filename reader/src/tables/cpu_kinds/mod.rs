//! CPU kinds, and how hwloc ranks them.

mod cpu_kinds;
mod kind;
mod ranking;

pub use cpu_kinds::NoCpuKind;
pub use kind::CpuKind;
