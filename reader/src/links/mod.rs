//! The graph of links: what connects CPUs, memory, GPUs, NICs and disks, how fast, and by which way
//! data goes from one to another.
//!
//! [`Topology::links`](crate::Topology::links) makes the graph ([`Links`]), and [`Paths`] searches
//! it by bandwidth, latency or number of links. [`DeclaredLinks`] are those that an administrator
//! declared.
//!
//! ```no_run
//! use topobroker_reader::links::{Measure, Paths, SwitchModel};
//! let topology = topobroker_reader::adopt()?.topology();
//! let links = topology.links(SwitchModel::One)?;
//! if let (Some(gpu), Some(nic)) = (links.find("cuda0"), links.find("mlx5_0")) {
//!     println!("{:?}", Paths::new(&links, false).between(gpu, nic, Measure::Bandwidth));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod declared;
mod devices;
mod gpu_links;
mod graph;
mod memory;
mod numa_latency;
mod of_topology;
mod parts;
mod paths;
mod ranks;
mod transit;

pub use declared::{AdoptLinksError, DeclaredLinks};
pub use gpu_links::nvlink_bandwidth;
pub use graph::{Links, LinksError};
pub use parts::SwitchModel;
pub use paths::{Direction, LinkPath, Measure, Paths};
pub use topobroker_layout::links::{Link, LinkClass, LinkOrigin, Vertex, VertexId, VertexKind};
