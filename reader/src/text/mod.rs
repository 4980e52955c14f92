//! Attributes and classes of objects, and whole topologies, as text as hwloc writes it.
//!
//! ```no_run
//! let topology = topobroker_reader::adopt()?.topology();
//! std::fs::write("node.xml", topobroker_reader::text::xml::export(topology))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attributes;
mod pci_class;
mod pci_domains;
mod rate;
pub mod synthetic;
pub mod xml;

pub use attributes::{attributes, memory_size};
pub use pci_class::pci_class_name;
pub use pci_domains::has_pci_domains;
pub use rate::{known_rate, rate};
