//! Environment variables from which libraries read which NICs and GPUs a process is to use.
//!
//! ```no_run
//! use topobroker_reader::{devices::environment::{Interface, of_gpus_of_rank}, jobs::Job};
//! let topology = topobroker_reader::adopt()?;
//! if let Some(job) = Job::find(topology)? {
//!     for (name, value) in of_gpus_of_rank(Interface::Cuda, job, 0) {
//!         println!("{name}={value}"); // CUDA_VISIBLE_DEVICES=GPU-...
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod gpus;
mod nics;

pub use gpus::{Interface, of_gpus, of_gpus_of_rank};
pub use nics::{Library, numbered_by_mpich, of_nics, of_nics_of_rank};
