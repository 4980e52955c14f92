//! Clusters, their nodes and fabrics.

use serde::Serialize;
use std::borrow::Cow;

/// The nodes of a cluster that are asked for, and what they have together.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Cluster<'a> {
    pub(crate) nodes: Vec<NamedNode<'a>>,
    pub(crate) kinds: Vec<NodesAlike<'a>>,
    pub(crate) classes: u32,
    pub(crate) missing: Vec<&'a str>,
    pub(crate) cores: u64,
    pub(crate) pus: u64,
    pub(crate) gpus: u64,
    /// In bytes.
    pub(crate) memory: u64,
}

/// A node, and where it is.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NamedNode<'a> {
    pub(crate) name: &'a str,
    pub(crate) class: u64,
    pub(crate) groups: &'a [String],
}

/// The nodes of a class that are on one network.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NodesAlike<'a> {
    pub(crate) class: u64,
    /// As a hostlist.
    pub(crate) nodes: String,
    pub(crate) count: usize,
    pub(crate) packages: u64,
    pub(crate) cores: u64,
    pub(crate) pus: u64,
    pub(crate) gpus: u64,
    pub(crate) nics: u64,
    pub(crate) network: &'a str,
    /// In bytes.
    pub(crate) least_memory: u64,
    /// In bytes.
    pub(crate) greatest_memory: u64,
}

/// What a cluster knows of a node.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ClusterNode<'a> {
    pub(crate) name: &'a str,
    pub(crate) number: u32,
    pub(crate) host_name: String,
    pub(crate) local: bool,
    pub(crate) class: u64,
    pub(crate) groups: Vec<String>,
    pub(crate) objects: usize,
    pub(crate) packages: usize,
    pub(crate) cores: usize,
    pub(crate) pus: usize,
    pub(crate) numa_nodes: usize,
    pub(crate) gpus: usize,
    pub(crate) nvlink_domain: Option<&'a str>,
    /// In bytes.
    pub(crate) memory: u64,
    pub(crate) networks: Vec<Network<'a>>,
}

/// NICs of a node that reach each other.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Network<'a> {
    pub(crate) network: String,
    pub(crate) nics: Vec<Cow<'a, str>>,
}

/// The smallest group that nodes have in common.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Group<'a> {
    pub(crate) kind: &'static str,
    pub(crate) name: &'a str,
    pub(crate) nodes: u32,
}

/// What a fabric has.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FabricCounts {
    pub(crate) switches: usize,
    pub(crate) ports_of_nodes: usize,
    pub(crate) ports_of_nodes_in_the_cluster: usize,
    pub(crate) links: usize,
    pub(crate) unconnected_ports_of_switches: usize,
    pub(crate) planes: usize,
    pub(crate) pairs_by_hops: Vec<HopsOfPairs>,
}

/// How many pairs of ports are as many links apart; null if nothing connects them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HopsOfPairs {
    pub(crate) hops: Option<u32>,
    pub(crate) pairs: u64,
}

/// A switch and its links.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Switch<'a> {
    pub(crate) switch: End<'a>,
    pub(crate) links: Vec<FabricLink<'a>>,
}

/// A link of a switch.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FabricLink<'a> {
    pub(crate) port: u16,
    pub(crate) peer: End<'a>,
    pub(crate) peer_port: u16,
    pub(crate) rate_mbps: Option<u32>,
}

/// A switch, or a port of a node.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct End<'a> {
    pub(crate) guid: String,
    pub(crate) name: &'a str,
}

/// How far the ports of two nodes are from each other.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Paths<'a> {
    /// The smallest group that has both.
    pub(crate) group: &'a str,
    pub(crate) kind: &'static str,
    pub(crate) ports: Vec<Path>,
}

/// How many links two ports are apart; null if nothing connects them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Path {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) hops: Option<u32>,
    pub(crate) rate_mbps: Option<u32>,
}

/// Two ports that reach each other.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Reached<'a> {
    pub(crate) one: &'a str,
    pub(crate) other: &'a str,
}

/// The ports of two nodes that are paired.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Pairs<'a> {
    pub(crate) pairs: Vec<PairOfPorts<'a>>,
    pub(crate) left_of_one: Vec<Unpaired<'a>>,
    pub(crate) left_of_other: Vec<Unpaired<'a>>,
}

/// A pair of ports.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PairOfPorts<'a> {
    pub(crate) one: &'a str,
    pub(crate) other: &'a str,
    pub(crate) subnet: String,
    pub(crate) rate_mbps: Option<u32>,
    pub(crate) rates: [Option<&'a str>; 2],
    pub(crate) share_per_mille: Option<u32>,
}

/// A port without a pair.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Unpaired<'a> {
    pub(crate) port: &'a str,
    pub(crate) reason: String,
}

/// The nodes whose ports are alike.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PortsOfNodes {
    /// As a hostlist; null with --anonymous.
    pub(crate) nodes: Option<String>,
    pub(crate) count: usize,
    pub(crate) ports: Vec<NodePort>,
    pub(crate) may_lock: Option<String>,
}

/// A port of a node.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NodePort {
    pub(crate) port: String,
    pub(crate) state: &'static str,
    pub(crate) rate: Option<String>,
    pub(crate) rate_mbps: Option<u64>,
    pub(crate) subnet: Option<String>,
}

/// Something that differs between two clusters or nodes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Change<'a> {
    /// -: only the first has it, +: only the second, ~: it differs.
    #[cfg_attr(test, schemars(extend("enum" = ["-", "+", "~"])))]
    pub(crate) sign: char,
    /// null for the fabric.
    pub(crate) node: Option<&'a str>,
    pub(crate) what: Option<&'a str>,
    pub(crate) lines: Vec<SignedLine<'a>>,
}

/// A line of XML that only one has.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SignedLine<'a> {
    #[cfg_attr(test, schemars(extend("enum" = ["-", "+"])))]
    pub(crate) sign: char,
    pub(crate) line: &'a str,
}
