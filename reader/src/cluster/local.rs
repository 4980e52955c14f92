//! Which node this process runs on, and what it can be bound to.

use super::Cluster;
use super::identity::Identity;
use super::node::{ClusterNode, NodeTopology};
use crate::object::Object;
use alloc::borrow::ToOwned;
use alloc::string::String;
use topobroker_layout::set::Set;

/// Where something is, as this process sees it. What is above nodes,
/// [`NodeGroup`](crate::cluster::NodeGroup), is on none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On the node of this process: its sets can be used for binding.
    Local,
    /// On another node: its sets say what it has, and must not be used for binding.
    Remote,
}

/// Why an object cannot be bound to.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum NotLocal {
    /// It is on another node.
    #[error("is on node {host}, and this process is not: bind to objects of the own node")]
    Remote { host: String },
    /// It is an object of another topology than that of the node.
    #[error("is not an object of node {host}: use the topology of that node")]
    OtherTopology { host: String },
    /// It has no PUs.
    #[error("has no PUs on node {host}: bind to an object with PUs")]
    NoPus { host: String },
}

impl Cluster<'_> {
    /// The node that this process runs on, `None` if it is not in the cluster.
    /// [`Identity::of_this_process`] says who that is.
    #[must_use]
    pub fn local(&self) -> Option<ClusterNode<'_>> {
        self.node_of(&Identity::of_this_process())
    }

    /// The node of an identity: the one with its host name, or with the name before the first dot,
    /// unless both boots are known and differ, or hwloc found another host name there. The node's
    /// topology is opened for that.
    #[must_use]
    pub fn node_of(&self, identity: &Identity) -> Option<ClusterNode<'_>> {
        let node = identity.names().find_map(|name| self.node_by_name(name))?;
        (identity.may_be_boot(node.boot()) && node.may_be_host(identity)).then_some(node)
    }
}

impl ClusterNode<'_> {
    /// Whether this process runs on the node.
    #[must_use]
    pub fn place(self) -> Place {
        let identity = Identity::of_this_process();
        // Without opening a topology for each node of another name.
        let is_called_so = identity.names().any(|name| name == self.name());
        let is_own = is_called_so && self.cluster().node_of(&identity) == Some(self);
        if is_own { Place::Local } else { Place::Remote }
    }

    /// Whether hwloc found the host name of an identity there, as far as it is known.
    fn may_be_host(self, identity: &Identity) -> bool {
        // A damaged topology says so when it is opened.
        self.open().map_or(true, |it| {
            identity.may_be_host(it.archive().topology().root().info("HostName"))
        })
    }
}

impl NodeTopology<'_> {
    /// The PUs of an object, for binding this process to them.
    ///
    /// # Errors
    ///
    /// [`NotLocal`] if this process does not run on the node, with the name of the node, or if the
    /// object is of another topology than [`NodeTopology::archive`] has.
    pub fn bindable(&self, object: Object<'_>) -> Result<Set, NotLocal> {
        let host = || self.node().name().to_owned();
        if !self.has(object) {
            return Err(NotLocal::OtherTopology { host: host() });
        }
        match (self.node().place(), object.cpuset()) {
            (Place::Remote, _) => Err(NotLocal::Remote { host: host() }),
            (Place::Local, Some(cpuset)) if !cpuset.is_empty() => Ok(cpuset),
            (Place::Local, _) => Err(NotLocal::NoPus { host: host() }),
        }
    }
}
