//! Places the ranks of a job as `mpirun` maps and binds them, and reports bindings as launchers do.

mod binder;
mod device;
mod error;
mod locale;
mod place;
mod policy;
pub mod report;

pub use error::PlacementError;
pub use place::{mapped_count, place, place_part, slots, usual_count};
pub use policy::{BindTo, Devices, MapBy, Policy, PolicyError};
