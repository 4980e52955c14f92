//! Tables besides the tree: distances, memory attributes and CPU kinds.

mod cpu_kinds;
mod distances;
mod memory_attributes;

pub use cpu_kinds::{CpuKind, NoCpuKind};
pub use distances::Distances;
pub use memory_attributes::{Initiator, MemoryAttribute, MemoryValue};
