//! Hardware resources, in MPI's words: which instance of a type each rank is on, and who is on the
//! same one.
//!
//! [`Job::hw_resources`](crate::jobs::Job::hw_resources) answers for all ranks of a job on this
//! node ([`HwResources`]); a [`Uri`] such as `hwloc://L3Cache` names a type. Counterparts:
//! `MPI_Get_hw_resource_info`, `MPI_Comm_split_type` with `MPI_COMM_TYPE_HW_GUIDED` and
//! `MPI_COMM_TYPE_HW_UNGUIDED`.
//!
//! ```no_run
//! use topobroker_reader::{groups::Uri, jobs::Job};
//! # fn example(job: Job<'_>) -> Result<(), Box<dyn std::error::Error>> {
//! let resources = job.hw_resources();
//! let caches: Vec<Option<u32>> = resources.instances(Uri::parse("hwloc://L3Cache")?)?.iter().collect();
//! # Ok(())
//! # }
//! ```

mod error;
mod group;
mod instance;
mod legacy;
mod lowest;
mod objects;
mod resource_type;
mod resources;
mod unguided;
mod uri;

pub use error::ResourceError;
pub use group::{HwGroup, RankGroup, RankGroups};
pub use instance::Instances;
pub use resource_type::ResourceType;
pub use resources::HwResources;
pub use unguided::Unguided;
pub use uri::{Uri, UriError};
