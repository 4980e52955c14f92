//! Questions to a cluster, which are timed, and of which the instructions are counted.

use anyhow::ensure;
use topobroker_reader::cluster::{Cluster, ClusterNode, FabricVertex};

/// A question that is asked so many `times`, and returns what stands for its answers.
pub struct Question<'a> {
    /// What is asked.
    pub name: &'static str,
    /// How often.
    pub times: usize,
    /// Asks it.
    pub ask: Box<dyn FnMut() -> u64 + 'a>,
}

/// How often each is asked.
const TIMES: usize = 1000;

/// The questions. They are about nodes and ports that are the same in every run.
///
/// # Errors
///
/// If the cluster has no nodes, no groups or no ports.
pub fn questions<'a>(cluster: &'a Cluster<'a>) -> anyhow::Result<Vec<Question<'a>>> {
    let mut random = fastrand::Rng::with_seed(1);
    let all: Vec<ClusterNode<'_>> = cluster.nodes().collect();
    let mut node = || random.choice(&all).copied();
    let pairs: Vec<(ClusterNode<'_>, ClusterNode<'_>)> =
        (0..TIMES).filter_map(|_| node().zip(node())).collect();
    let (groups, fabric) = (cluster.groups()?, cluster.fabric()?);
    let port = |node: ClusterNode<'a>| fabric.ports_of(node).next();
    let ports: Vec<(FabricVertex<'_>, FabricVertex<'_>)> =
        pairs.iter().filter_map(|(one, other)| port(*one).zip(port(*other))).collect();
    ensure!(ports.len() == TIMES, "each node has a port");
    let names: Vec<&str> = pairs.iter().map(|(one, _)| one.name()).collect();
    let of_nodes = pairs.clone();
    let ask = |name, ask| Question { name, times: TIMES, ask };
    Ok(vec![
        ask(
            "cluster, node by name",
            Box::new(move || {
                let found = names.iter().filter_map(|name| cluster.node_by_name(name));
                found.map(|node| u64::from(node.number())).sum()
            }),
        ),
        ask(
            "cluster, common group of nodes",
            Box::new(move || {
                let common = pairs.iter().map(|(one, other)| groups.common(*one, *other));
                common.map(|group| u64::from(group.number())).sum()
            }),
        ),
        ask(
            "cluster, hops between ports",
            Box::new(move || {
                let hops = ports.iter().map(|(one, other)| fabric.hops(*one, *other));
                hops.map(|hops| hops.map_or(0, u64::from)).sum()
            }),
        ),
        ask(
            "cluster, hops between nodes",
            Box::new(move || {
                let hops = of_nodes.iter().map(|(one, other)| fabric.hops_of_nodes(*one, *other));
                hops.map(|hops| hops.map_or(0, u64::from)).sum()
            }),
        ),
    ])
}
