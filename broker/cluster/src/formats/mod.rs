//! Clusters as files of other programs: Slurm, Flux, launchers, Kubernetes, Graphviz, Scotch.
//!
//! ```no_run
//! let cluster = topobroker_reader::cluster::adopt_cluster()?; // TOPOBROKER_CLUSTER
//! std::fs::write("hosts", topobroker_cluster::formats::hostfile(cluster)?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dot;
mod flux;
mod hostfile;
mod slurm;
mod slurm_nodes;
mod tleaf;

pub use dot::dot;
pub use flux::{FluxLevels, jgf, r};
pub use hostfile::{hostfile, kubernetes_labels};
pub use slurm::{SlurmTextError, topology_conf, topology_units, topology_yaml};
pub use slurm_nodes::{NodeNames, gres_conf, node_names};
pub use tleaf::{NotRegular, tleaf};
