//! `topobroker cluster ls`: the nodes of a cluster.

use super::filter::{Filter, NodeSummary};
use super::opened::Opened;
use super::opened::path;
use crate::{json, output};
use clap::Args;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_cluster::fold;
use topobroker_process::with_causes;
use topobroker_reader::cluster::{Cluster, ClusterNode, ClusterOpenError, NodeGroup};

/// List what a cluster has: a line for the nodes of each class, and what all have together
#[derive(Debug, Args)]
pub(super) struct List {
    /// File of the cluster
    file: PathBuf,
    /// Only nodes that meet conditions, such as 'gpus>0 and memory>=512GiB'. Keys are cores, pus,
    /// packages, numa, gpus, nics, memory and class; and name, group and network, with = and !=
    /// alone
    #[arg(long = "where", value_name = "CONDITIONS")]
    filter: Option<Filter>,
    /// Print a line for each node, with its class and groups
    #[arg(long)]
    nodes: bool,
    /// Print the names as one hostlist, as Slurm and others take it
    #[arg(long, conflicts_with_all = ["nodes", "groups", "json"])]
    hostlist: bool,
    /// Print the tree of groups
    #[arg(long, conflicts_with_all = ["nodes", "filter"])]
    groups: bool,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["groups", "nodes"])]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        if self.groups {
            let mut text = String::new();
            tree(cluster.groups()?.root(), 0, &mut text);
            return output::print(&text);
        }
        if self.nodes && self.filter.is_none() {
            // Names are printed without opening nodes: a damaged node does not prevent the list.
            output::print(&(lines(cluster.nodes())? + &missing(&cluster)?))?;
            let totals = cluster.totals()?;
            let sums = [totals.nodes, totals.cores, totals.pus, totals.gpus, totals.memory];
            return output::print(&sums_text(sums, cluster.class_count() as usize));
        }
        let (found, is_sound) = self.found(&cluster);
        let text = if self.json {
            json::text(&described(&cluster, &found)?)?
        } else if self.hostlist {
            fold(found.iter().map(|node| node.name.as_str())) + "\n"
        } else {
            let named = found.iter().filter_map(|facts| cluster.node_by_name(&facts.name));
            let text = if self.nodes { lines(named)? } else { by_kind(&found) };
            let missing = if self.filter.is_none() { missing(&cluster)? } else { String::new() };
            text + &missing + &sums(&found)
        };
        output::print(&text)?;
        Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// The nodes that are asked for, and whether all can be opened. Those that cannot are reported
    /// and left out: others may be sound.
    fn found(&self, cluster: &Cluster<'_>) -> (Vec<NodeSummary>, bool) {
        let mut is_sound = true;
        let mut found = Vec::new();
        for node in cluster.nodes() {
            match NodeSummary::of(node) {
                Ok(facts) => found.push(facts),
                Err(error) => {
                    output::complain(&format!("{}: {}", node.name(), with_causes(&error)));
                    is_sound = false;
                }
            }
        }
        found.retain(|node| self.filter.as_ref().is_none_or(|filter| filter.has(node)));
        (found, is_sound)
    }
}

/// The nodes of one class.
struct NodesAlike<'f> {
    first: &'f NodeSummary,
    names: Vec<&'f str>,
    /// Least and greatest memory.
    memory: (u64, u64),
}

fn kinds(found: &[NodeSummary]) -> Vec<NodesAlike<'_>> {
    let mut kinds: BTreeMap<(u64, &str), NodesAlike<'_>> = BTreeMap::new();
    for node in found {
        let kind = kinds.entry((node.class, &node.network)).or_insert_with(|| NodesAlike {
            first: node,
            names: Vec::new(),
            memory: (node.memory, node.memory),
        });
        kind.names.push(&node.name);
        kind.memory = (kind.memory.0.min(node.memory), kind.memory.1.max(node.memory));
    }
    kinds.into_values().collect()
}

fn by_kind(found: &[NodeSummary]) -> String {
    let head = ["class", "cores", "PUs", "memory", "GPUs", "NICs", "network", "nodes"];
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    for kind in kinds(found) {
        let node = kind.first;
        let memory = match [kind.memory.0, kind.memory.1].map(gib) {
            [least, most] if least == most => format!("{least} GiB"),
            [least, most] => format!("{least}-{most} GiB"),
        };
        let numbers = [node.class, node.cores, node.pus].map(|it| it.to_string());
        let devices = [node.gpus, node.nics].map(|it| it.to_string());
        let mut row = numbers.to_vec();
        row.push(memory);
        row.extend(devices);
        row.extend([node.network.clone(), fold(kind.names.iter().copied())]);
        rows.push(row);
    }
    topobroker::table::table(&rows)
}

/// Bytes in GiB with a digit behind the point.
fn gib(bytes: u64) -> String {
    let tenths = (u128::from(bytes) * 10 + (1 << 29)) >> 30;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn lines<'a>(nodes: impl Iterator<Item = ClusterNode<'a>>) -> Result<String, ClusterOpenError> {
    let mut text = String::new();
    for node in nodes {
        let path = path(node.group()?);
        let path = if path.is_empty() { "-".to_owned() } else { path.join("/") };
        let _ = writeln!(text, "{} class {} in {path}", node.name(), node.class());
    }
    Ok(text)
}

fn missing(cluster: &Cluster<'_>) -> Result<String, ClusterOpenError> {
    Ok(cluster.missing()?.map(|name| format!("{name} is missing\n")).collect())
}

fn sums(found: &[NodeSummary]) -> String {
    let sum = |value: fn(&NodeSummary) -> u64| found.iter().map(value).sum::<u64>();
    let classes: std::collections::BTreeSet<u64> = found.iter().map(|node| node.class).collect();
    let values: [fn(&NodeSummary) -> u64; 5] =
        [|_| 1, |node| node.cores, |node| node.pus, |node| node.gpus, |node| node.memory];
    sums_text(values.map(sum), classes.len())
}

fn sums_text([nodes, cores, pus, gpus, memory]: [u64; 5], classes: usize) -> String {
    let of = |count: u64, one: &str, more: &str| {
        format!("{count} {}", if count == 1 { one } else { more })
    };
    format!(
        "{} of {}: {}, {}, {}, {} GiB of memory\n",
        of(nodes, "node", "nodes"),
        of(classes as u64, "class", "classes"),
        of(cores, "core", "cores"),
        of(pus, "PU", "PUs"),
        of(gpus, "GPU", "GPUs"),
        gib(memory)
    )
}

fn tree(group: NodeGroup<'_>, depth: usize, text: &mut String) {
    let name = if group.parent().is_none() { "" } else { group.name() };
    let kind = group.kind().name();
    let _ = writeln!(text, "{:1$}{kind} {name} ({2} nodes)", "", 2 * depth, group.node_count());
    for node in group.own_nodes() {
        let _ = writeln!(text, "{:1$}{2}", "", 2 * depth + 2, node.name());
    }
    group.children().for_each(|child| tree(child, depth + 1, text));
}

fn described<'a>(
    cluster: &'a Cluster<'a>,
    found: &'a [NodeSummary],
) -> Result<json::Cluster<'a>, ClusterOpenError> {
    let node = |node: &'a NodeSummary| json::NamedNode {
        name: &node.name,
        class: node.class,
        groups: &node.groups,
    };
    let kind = |kind: NodesAlike<'a>| json::NodesAlike {
        class: kind.first.class,
        nodes: fold(kind.names.iter().copied()),
        count: kind.names.len(),
        packages: kind.first.packages,
        cores: kind.first.cores,
        pus: kind.first.pus,
        gpus: kind.first.gpus,
        nics: kind.first.nics,
        network: &kind.first.network,
        least_memory: kind.memory.0,
        greatest_memory: kind.memory.1,
    };
    let sum = |value: fn(&NodeSummary) -> u64| found.iter().map(value).sum::<u64>();
    Ok(json::Cluster {
        nodes: found.iter().map(node).collect(),
        kinds: kinds(found).into_iter().map(kind).collect(),
        classes: cluster.class_count(),
        missing: cluster.missing()?.collect(),
        cores: sum(|node| node.cores),
        pus: sum(|node| node.pus),
        gpus: sum(|node| node.gpus),
        memory: sum(|node| node.memory),
    })
}
