//! `topobroker cluster ls`: the nodes of a cluster.

use super::opened::Opened;
use crate::output;
use clap::Args;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_reader::cluster::{Cluster, ClusterOpenError, NodeGroup};

/// List the nodes of a cluster with their classes and groups, and what all have together
#[derive(Debug, Args)]
pub(super) struct List {
    /// File of the cluster
    file: PathBuf,
    /// Print the tree of groups
    #[arg(long)]
    groups: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "groups")]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let text = match (self.json, self.groups) {
            (true, _) => json(&cluster)?,
            (_, true) => {
                let mut text = String::new();
                tree(cluster.groups()?.root(), 0, &mut text);
                text
            }
            _ => {
                // What is damaged does not take the list away.
                output::print(&lines(&cluster)?)?;
                sums(&cluster)?
            }
        };
        output::print(&text)
    }
}

fn lines(cluster: &Cluster<'_>) -> Result<String, ClusterOpenError> {
    let mut text = String::new();
    for node in cluster.nodes() {
        let path = path(node.group()?);
        let path = if path.is_empty() { "-".to_owned() } else { path.join("/") };
        let _ = writeln!(text, "{} class {} in {path}", node.name(), node.class());
    }
    for name in cluster.missing()? {
        let _ = writeln!(text, "{name} is missing");
    }
    Ok(text)
}

fn sums(cluster: &Cluster<'_>) -> Result<String, ClusterOpenError> {
    let totals = cluster.totals()?;
    Ok(format!(
        "{} nodes of {} classes: {} cores, {} PUs, {} GPUs, {} bytes of memory\n",
        totals.nodes,
        cluster.class_count(),
        totals.cores,
        totals.pus,
        totals.gpus,
        totals.memory
    ))
}

/// Names of a group and of those that it is in, the outermost first.
pub(super) fn path(group: NodeGroup<'_>) -> Vec<String> {
    let all = std::iter::successors(Some(group), |group| group.parent());
    let mut path: Vec<String> =
        all.filter(|group| group.parent().is_some()).map(|group| group.name().to_owned()).collect();
    path.reverse();
    path
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

fn json(cluster: &Cluster<'_>) -> anyhow::Result<String> {
    let mut nodes = Vec::new();
    for node in cluster.nodes() {
        let groups = path(node.group()?);
        nodes.push(json!({ "name": node.name(), "class": node.class(), "groups": groups }));
    }
    let totals = cluster.totals()?;
    let all = json!({
        "nodes": nodes,
        "classes": cluster.class_count(),
        "missing": cluster.missing()?.collect::<Vec<_>>(),
        "cores": totals.cores,
        "pus": totals.pus,
        "gpus": totals.gpus,
        "memory": totals.memory,
    });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}
