//! NICs and GPUs: how far they are from a process, and by which ids others know them.

mod assign;
mod candidates;
mod distances;
mod distances_pmix7;
mod domain;
mod id;
mod kinds;
mod near;
mod path;
mod pci_link;
mod pci_tree;
mod ports;

pub use assign::Beside;
pub(crate) use candidates::is_cxi;
pub use candidates::{LinkState, NicChoice};
pub use distances::DeviceDistance;
pub(crate) use domain::{Domains, GpuLink};
pub use kinds::DeviceKinds;
pub use near::{DevicePath, Nearness};
pub use path::PathClass;
pub use pci_link::PciLink;
pub use ports::{LinkLayer, Port, PortState};
