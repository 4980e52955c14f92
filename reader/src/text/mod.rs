//! Attributes and classes of objects as text, as hwloc writes them.

mod attributes;
mod pci_class;
mod pci_domains;

pub use attributes::{attributes, memory_size};
pub use pci_class::pci_class_name;
pub use pci_domains::has_pci_domains;
