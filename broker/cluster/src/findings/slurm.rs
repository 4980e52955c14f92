//! Where a topology that Slurm is configured with is not the fabric that is there.

use crate::majority::majority;
use crate::slurm::{SlurmGroup, SlurmTopology, fold};
use std::collections::{BTreeMap, BTreeSet};
use topobroker::findings::{Finding, FindingKind};
use topobroker_reader::cluster::{Cluster, ClusterOpenError, GroupKind};

/// The leaf switches of a node, by GUID.
type Leaves = BTreeSet<u64>;

/// What is wrong with a configured topology of Slurm, next to the fabric of a cluster: nodes that
/// one of the two does not have, nodes of a leaf that are at other switches than the others, and
/// leaves that are the same switches. Only nodes that the fabric has are compared.
///
/// # Errors
///
/// [`ClusterOpenError`] if the fabric is damaged.
pub fn slurm_findings(
    cluster: &Cluster<'_>,
    topology: &SlurmTopology,
) -> Result<Vec<Finding>, ClusterOpenError> {
    let fabric = cluster.fabric()?;
    let mut at: BTreeMap<&str, Leaves> = BTreeMap::new();
    for node in cluster.nodes() {
        let ports = fabric.ports_of(node);
        let leaves: Leaves =
            ports.filter_map(|port| Some(port.links().next()?.peer.guid())).collect();
        at.insert(node.name(), leaves);
    }
    let names: BTreeMap<u64, String> =
        fabric.switches().map(|it| (it.guid(), it.name().to_owned())).collect();
    let named: BTreeSet<&str> =
        topology.groups().flat_map(|group| &group.nodes).map(String::as_str).collect();
    let found = |nodes: Vec<&str>, what: &str| {
        let text = || format!("{} {what}", fold(nodes.iter().copied()));
        (!nodes.is_empty()).then(|| Finding::new(FindingKind::Topology, text()))
    };
    let unknown = named.iter().filter(|name| !at.contains_key(**name)).copied().collect();
    let without = at.keys().filter(|name| !named.contains(**name)).copied().collect();
    let mut findings: Vec<Finding> = [
        found(unknown, "of Slurm's topology: the cluster has no such nodes"),
        found(without, "of the cluster: Slurm's topology does not have them"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut first: BTreeMap<Leaves, &str> = BTreeMap::new();
    for group in topology.groups().filter(|group| group.kind == GroupKind::Switch) {
        let Some(usual) = usual(group, &at) else { continue };
        let words = |leaves: &Leaves| {
            let names = leaves.iter().map(|leaf| names.get(leaf).map_or("-", String::as_str));
            names.collect::<Vec<_>>().join(" ")
        };
        let others = group.nodes.iter().filter_map(|name| {
            let own = at.get(name.as_str()).filter(|own| !own.is_empty() && **own != usual)?;
            Some((own, name.as_str()))
        });
        let mut elsewhere: BTreeMap<&Leaves, Vec<&str>> = BTreeMap::new();
        others.for_each(|(own, name)| elsewhere.entry(own).or_default().push(name));
        for (own, nodes) in elsewhere {
            let text = format!(
                "{}: below {} of Slurm's topology, but at {}, where the other nodes of {} are at \
                 {}",
                fold(nodes.iter().copied()),
                group.name,
                words(own),
                group.name,
                words(&usual),
            );
            findings.push(Finding::new(FindingKind::Topology, text));
        }
        match first.get(&usual) {
            Some(other) => {
                let text = format!(
                    "{other} and {} of Slurm's topology are the same switches: {}",
                    group.name,
                    words(&usual),
                );
                findings.push(Finding::new(FindingKind::Topology, text));
            }
            None => _ = first.insert(usual, &group.name),
        }
    }
    Ok(findings)
}

/// The leaf switches that most nodes of a group are at.
fn usual(group: &SlurmGroup, at: &BTreeMap<&str, Leaves>) -> Option<Leaves> {
    let all = group.nodes.iter().filter_map(|name| at.get(name.as_str()));
    majority(all.filter(|leaves| !leaves.is_empty()).cloned())
}
