//! Publishing on a node: loading the topology of a process, the daemon, keys for PMIx servers, and
//! the list of published segments.
//!
//! ```
//! let topology = topobroker::node::load()?.topology(); // published, otherwise discovered once
//! println!("{} objects", topology.object_count());
//! # Ok::<(), topobroker::node::LoadError>(())
//! ```

pub mod daemon;
mod election;
#[allow(unsafe_code, reason = "adopting a segment that hwloc believes is what this module is for")]
mod hwloc_topology;
mod load;
#[allow(unsafe_code, reason = "calling libpmix is what this module is for")]
pub mod pmix_host;
pub mod status;

pub use election::close_all;
pub use hwloc_topology::{PMIX_SHMEM_NAMES, hwloc_topology};
pub use load::{LoadError, keys_for, load, release};
