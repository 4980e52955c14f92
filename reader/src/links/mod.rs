//! The graph of links: what connects CPUs, memory, GPUs, NICs and disks, how fast, and by which way
//! data goes from one to another.

mod devices;
mod gpu_links;
mod graph;
mod memory;
mod numa_latency;
mod of_topology;
mod parts;
mod paths;
mod ranks;
mod told;
mod transit;

pub use gpu_links::nvlink_bandwidth;
pub use graph::{Links, LinksError};
pub use parts::SwitchModel;
pub use paths::{Direction, LinkPath, Measure, Paths};
pub use told::{AdoptLinksError, ToldLinks};
pub use topobroker_layout::links::{Link, LinkClass, LinkOrigin, Vertex, VertexKind};
