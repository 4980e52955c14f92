//! Questions to a cluster, which are timed, and of which the instructions are counted.

use anyhow::ensure;
use topobroker_cluster::SwitchTree;
use topobroker_reader::cluster::{Cluster, ClusterNode, FabricVertex};

/// A tree of switches with 36 ports.
pub const TREE: SwitchTree = SwitchTree { nodes_a_leaf: 18, leaves_a_pod: 18, spines_a_pod: 18 };

/// How often [`Question::ask`] asks.
pub const TIMES: usize = 1000;

/// A question to a cluster.
pub struct Question<'a> {
    /// What is asked.
    pub name: &'static str,
    /// Asks it [`TIMES`] times. Returns a sum of the answers, so that the compiler cannot leave
    /// them out.
    pub ask: Box<dyn FnMut() -> u64 + 'a>,
}

/// The questions. They are about nodes and their first ports, which are the same in every run.
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
    Ok(vec![
        question("node by name", move || {
            let found = names.iter().filter_map(|name| cluster.node_by_name(name));
            found.map(|node| u64::from(node.number())).sum()
        }),
        question("common group", move || {
            let common = pairs.iter().map(|(one, other)| groups.common(*one, *other));
            common.map(|group| u64::from(group.number())).sum()
        }),
        question("links between two ports", move || {
            ports.iter().filter_map(|(one, other)| fabric.hops(*one, *other)).map(u64::from).sum()
        }),
        question("links between two nodes", move || {
            let hops = |(one, other): &(_, _)| fabric.hops_of_nodes(*one, *other);
            of_nodes.iter().filter_map(hops).map(u64::from).sum()
        }),
    ])
}

fn question<'a>(name: &'static str, ask: impl FnMut() -> u64 + 'a) -> Question<'a> {
    Question { name, ask: Box::new(ask) }
}
