//! `topobroker cluster common`: what nodes have above them together, such as their switch.

use super::opened::{Opened, named};
use crate::{json, output};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_reader::cluster::NodeGroup;

/// Print the lowest switch, block or other group that nodes share, with the number of its nodes
#[derive(Debug, Args)]
pub(super) struct Common {
    /// File of the cluster
    file: PathBuf,
    /// Names of the nodes
    #[arg(required = true, num_args = 2.., value_name = "NODE")]
    nodes: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Common {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let groups = cluster.groups()?;
        let mut common: Option<NodeGroup<'_>> = None;
        let mut first = None;
        for name in &self.nodes {
            let node = named(&cluster, name)?;
            let shared = groups.common(*first.get_or_insert(node), node);
            // Of two groups above the first node, the one that has more nodes is the upper one.
            common = common.filter(|known| known.depth() <= shared.depth()).or(Some(shared));
        }
        let Some(group) = common else { return Ok(ExitCode::SUCCESS) };
        let (kind, count) = (group.kind().name(), group.node_count());
        if self.json {
            let document = json::Group { kind, name: group.name(), nodes: count };
            return output::print(&json::text(&document)?);
        }
        let name =
            if group.name().is_empty() { String::new() } else { format!(" {}", group.name()) };
        output::print(&format!("{kind}{name} ({count} nodes)\n"))
    }
}
