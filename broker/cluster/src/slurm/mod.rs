//! Slurm's view of a cluster: hostlists, and its topology of switches and blocks.

mod apply;
mod conf;
mod error;
mod groups;
mod hostlist;
mod torus;
mod yaml;

pub use apply::Applied;
pub use conf::read_conf;
pub use error::{SlurmError, SlurmErrorKind};
pub use groups::{SlurmGroup, SlurmTopology};
pub use hostlist::{HostlistError, MAX_HOSTS, expand, fold, fold_in_order};
pub use yaml::read_yaml;
