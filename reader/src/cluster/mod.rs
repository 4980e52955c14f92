//! Clusters: many nodes and what is above them, in one segment.
//!
//! [`adopt_cluster`] adopts the cluster that `TOPOBROKER_CLUSTER` names. A [`ClusterNode`] is opened
//! to be asked as any topology; its sets are for binding only on the node itself
//! ([`NodeTopology::bindable`]). [`NodeGroups`] are switches, blocks and racks; the [`Fabric`] has
//! their ports and links. A process that wants its own node alone asks for [`own_node`].
//!
//! ```no_run
//! use topobroker_reader::cluster::adopt_cluster;
//! let cluster = adopt_cluster()?;
//! let (fabric, node) = (cluster.fabric()?, cluster.node_by_name("n7").expect("a node"));
//! for other in cluster.nodes() {
//!     println!("{} {:?}", other.name(), fabric.hops_of_nodes(node, other));
//! }
//! # Ok::<(), topobroker_reader::cluster::ClusterOpenError>(())
//! ```

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
