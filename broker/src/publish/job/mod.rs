//! Jobs over a published topology. Each job is a small segment beside that of the topology.

mod devices;
mod error;
mod files;
mod job;

pub use devices::DevicePolicy;
pub use error::JobError;
pub(super) use files::remove_all;
pub use files::{PublishedJob, file_of, list, remove, sweep};
pub(crate) use files::{names_beside, place_of_memfd};
pub use files::{remove_orphans, sweep_beside};
pub use job::{JobOptions, JobPublication, Launcher, add};
