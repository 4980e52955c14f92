//! Clusters: many nodes and what is above them, in one segment.

mod above;
mod adopt;
mod cluster;
mod distance;
mod error;
mod fabric;
mod identity;
mod local;
mod node;
mod own;
mod totals;

pub use above::{GroupKind, NodeGroup, NodeGroups};
pub use adopt::{adopt_cluster, adopt_cluster_file, adopted_cluster};
pub use cluster::Cluster;
pub use distance::{FabricPath, NodeDistances};
pub use error::ClusterOpenError;
pub use fabric::{Fabric, FabricLink, FabricVertex};
pub use identity::Identity;
pub use local::{NotLocal, Place};
pub use node::{ClusterNode, NodeTopology};
pub use own::{OwnNode, own_node};
pub use totals::Totals;
