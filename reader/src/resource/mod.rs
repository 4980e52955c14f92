//! Hardware resources, in MPI's words: which instance of a type each rank is on, and who is on the
//! same one.

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
