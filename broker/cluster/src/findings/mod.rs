//! What is wrong with a cluster as a whole: with nodes that are right each for itself.

mod findings;
mod nics;
mod slurm;

pub use findings::cluster_findings;
pub use slurm::slurm_findings;
