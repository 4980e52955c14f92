//! Who publishes on a node, and who is told: the way of a process to a topology, the daemon, PMIx servers, and the list
//! of what is published.

pub mod daemon;
pub(crate) mod election;
mod hwloc_topology;
mod load;
#[allow(unsafe_code, reason = "calling libpmix is what this module is for")]
pub mod pmix_host;
pub mod status;

pub use hwloc_topology::{PMIX_SHMEM_NAMES, hwloc_topology};
pub use load::{LoadError, load};
