//! Places the ranks of a job as PRRTE or `mpirun` of Open MPI 4 maps, binds and numbers them, and
//! reports bindings as launchers do.
//!
//! ```
//! # let topology = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../reader/tests/documentation/example_machine.rs"));
//! use topobroker::placement::{Policy, place};
//! let ranks = place(topology, &Policy::parse("core", None)?, Some(2), &[])?;
//! assert_eq!(ranks.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counts;
mod devices;
mod error;
mod listed;
mod mpirun4;
mod objects;
mod parse;
mod place;
mod placed;
mod policy;
mod prrte;
pub mod report;

pub use counts::{mapped_count, slots, usual_count};
pub use error::PlacementError;
pub use listed::{ListError, RankList};
pub use mpirun4::place_part;
pub use parse::PolicyError;
pub use place::place;
pub use placed::{PlacedRank, Room};
pub use policy::{BindTo, DeviceMap, Devices, MapBy, Policy, RankBy, Resource, Rules};
pub use prrte::place_on;
