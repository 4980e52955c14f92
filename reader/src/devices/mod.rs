//! NICs and GPUs: how far they are from a process, and by which ids others know them.
//!
//! The questions are methods of [`Topology`](crate::Topology): `nics`, `gpus`, `assign`, `nearest`,
//! `device_path`, `device_distances`, `path_class`; and of [`Object`](crate::Object): `ports`,
//! `pci_link`, `pmix_device_id`. Here are the types of their answers.
//!
//! ```no_run
//! use topobroker_reader::devices::{NearTo, NicChoice};
//! let topology = topobroker_reader::adopt()?.topology();
//! let nics: Vec<_> = topology.nics(NicChoice::new(false)).collect();
//! let own = topobroker_reader::jobs::affinity().unwrap();
//! let nearest = topology.assign(&nics, &[NearTo::Pus(&own)], 1);
//! # Ok::<(), topobroker_reader::AdoptError>(())
//! ```

mod assign;
mod candidates;
mod distances;
mod distances_pmix7;
mod domain;
pub mod environment;
mod gpus;
mod id;
mod kinds;
mod local_nodes;
mod near;
mod network;
mod number;
mod path;
mod pci_link;
mod pci_tree;
mod ports;
mod spread;
mod virtual_functions;

pub use assign::{NearTo, RankDevice};
pub(crate) use candidates::is_cxi;
pub use candidates::{LinkState, NicChoice};
pub use distances::DeviceDistance;
pub(crate) use domain::{Domains, GpuLink, nvlink_domain_of};
pub use kinds::DeviceKinds;
pub use local_nodes::NUMA_NODE;
pub use near::{DevicePath, Nearness};
pub use network::{Network, NetworkId, NetworkShare};
pub use number::device_number;
pub(crate) use number::device_of_number;
pub use path::PathClass;
pub use pci_link::PciLink;
pub use ports::{LinkLayer, Port, PortState, prefix_text};
pub use virtual_functions::PHYSICAL_FUNCTION;
