//! Clusters as files of other programs: Slurm, Flux, Graphviz, Scotch.

mod dot;
mod flux;
mod slurm;
mod tleaf;

pub use dot::dot;
pub use flux::{jgf, r};
pub use slurm::{SlurmTextError, topology_conf, topology_yaml};
pub use tleaf::{NotRegular, tleaf};
