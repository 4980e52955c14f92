//! Attributes and classes of objects as text, as hwloc writes them.

mod attributes;
mod pci_class;

pub use attributes::{attributes, memory_size};
pub use pci_class::pci_class_name;
