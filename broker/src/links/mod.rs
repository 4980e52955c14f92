//! Links of a node: in the formats of other programs, and declared to its processes.
//!
//! ```no_run
//! let topology = topobroker_reader::adopt()?.topology();
//! let links = topology.links(topobroker_reader::links::SwitchModel::One)?;
//! print!("{}", topobroker::links::matrix(&links)); // as nvidia-smi topo -m
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod declare;
mod declared;
mod dot;
mod json;
mod matrix;
mod nccl;
mod nccl_cpu;
mod nccl_read;
mod new_links;
mod pci_speed;
mod pci_tree;
mod smi_table;

pub use declare::{DeclareError, declare, forget};
pub use declared::{Declared, declared};
pub use dot::dot;
pub use json::{jgf, json};
pub use matrix::{links_of_gpus, matrix};
pub use nccl::{GuestBusIds, NcclError, nccl, rccl};
pub use nccl_read::{NcclDevice, NcclFile, NcclLink, NcclReadError, NcclReadErrorKind, is_bus_id};
pub use new_links::LinksReadError;
pub use pci_tree::{PciTreeError, with_pci_tree};
