//! What is wrong with a cluster as a whole: with nodes that are right each for itself.

mod findings;
mod nics;

pub use findings::cluster_findings;
