//! Clusters: many nodes in one segment. Nodes that are alike are stored once.
//!
//! ```no_run
//! use topobroker_cluster::{ClusterBuilder, GroupId, PreparedNode};
//! let mut cluster = ClusterBuilder::new();
//! for node in ["node1", "node2"] {
//!     let xml = std::fs::read(format!("{node}.xml"))?;
//!     cluster.add(GroupId::CLUSTER, PreparedNode::of_xml(xml, Some(node), node)?)?;
//! }
//! std::fs::write("cluster.topo", cluster.finish()?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]

mod builder;
mod classes;
mod difference;
mod error;
pub mod fabric;
mod file;
pub mod file_name;
mod findings;
pub mod formats;
pub mod gather;
mod generate;
mod inputs;
mod located;
mod majority;
mod natural;
mod own_values;
mod place;
mod prepared_node;
mod rails;
mod reach;
mod skeleton;
mod slurm;
mod write;

pub use builder::{ClusterBuilder, GroupId, MAX_CLASSES};
pub use error::ClusterError;
pub use findings::{cluster_findings, slurm_findings};
pub use generate::{Like, SwitchTree};
pub use inputs::{NodeFile, files_in, prepare, prepare_all};
pub use located::{Located, Unexpected};
pub use place::{Host, PlaceError, PlacedRank, place_list_on_nodes, place_on_nodes};
pub use prepared_node::{MAX_NAME, PreparedNode};
pub use rails::{Leaf, Miscabled, Rails};
pub use reach::{Planes, PortPair, PortPairs, ReachRule, Unpaired, port_pairs, reach};
pub use slurm::{
    Applied, HostlistError, MAX_HOSTS, SlurmError, SlurmErrorKind, SlurmGroup, SlurmTopology,
    expand, fold, fold_in_order, read_conf, read_yaml,
};
pub use topobroker::file_bytes::Owners;
pub use write::{is_written_in_place, write_file};
