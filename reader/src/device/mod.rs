//! NICs and GPUs: how far they are from a process, and by which ids others know them.

mod distances;
mod id;
mod kinds;
mod near;

pub use distances::DeviceDistance;
pub use kinds::DeviceKinds;
pub use near::{DevicePath, Nearness};
