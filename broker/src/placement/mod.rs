//! Where the ranks of a job go, as `mpirun` maps and binds them, and the maps that it prints.

mod placement;
mod policy;
pub mod report;

pub use placement::{PlacementError, place, usual_count};
pub use policy::{BindTo, MapBy, Policy, PolicyError};
