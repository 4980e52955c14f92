//! A topology as text: synthetic description, XML, attributes of objects.

mod attributes;
mod pci_class;
pub mod synthetic;
pub mod xml;

pub use attributes::{attributes, memory_size};
pub use pci_class::pci_class_name;
