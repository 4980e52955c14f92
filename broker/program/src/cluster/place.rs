//! `topobroker cluster place`: the ranks of a job over the nodes of a cluster.

use super::opened::Opened;
use crate::mapping::Mapping;
use crate::output;
use anyhow::{Context, ensure};
use clap::Args;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_cluster::{Host, expand, place_list_on_nodes, place_on_nodes};
use topobroker_layout::job::MAX_RANKS;
use topobroker_layout::set::Format;
use topobroker_reader::cluster::Cluster;

/// Print where the ranks of a job would be, as launchers map, bind and number them: a line for each
/// rank with its node and the OS indexes of its PUs, or a hyphen
#[derive(Debug, Args)]
pub(super) struct Place {
    /// File of the cluster
    file: PathBuf,
    /// Number of ranks; by default one for each slot if --nodes has slots, otherwise as many as the
    /// policy makes
    #[arg(short = 'n', long = "np", value_name = "COUNT")]
    count: Option<u32>,
    /// Policy of `job add`; node deals ranks to nodes in turn, :SPAN maps to the objects of all
    /// nodes. By default slot
    #[arg(long, value_name = "POLICY")]
    map_by: Option<String>,
    #[command(flatten)]
    mapping: Mapping,
    /// Only on these nodes, in this order: n[1-4],n9. By default on all. With n[1-4]:8, each of
    /// these has 8 slots; by default one for each core, or for each PU if ranks are mapped by or
    /// bound to PUs
    #[arg(long, value_name = "HOSTS")]
    nodes: Option<String>,
}

impl Place {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let hosts = match &self.nodes {
            None => cluster.nodes().map(Host::from).collect(),
            Some(list) => {
                let named = expand(list)?;
                let named = named.iter().map(|text| host(&cluster, text));
                named.collect::<anyhow::Result<Vec<_>>>()?
            }
        };
        ensure!(!hosts.is_empty(), "the cluster has no nodes");
        let numbers: BTreeSet<u32> = hosts.iter().map(|host| host.node.number()).collect();
        ensure!(numbers.len() == hosts.len(), "--nodes: names a node twice");
        let count = self.count.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
        let map_by = self.map_by.as_deref();
        let placed = match self.mapping.listed(map_by, count)? {
            Some((list, policy)) => {
                ensure!(
                    map_by.is_some(),
                    "--bind-to user: is for the ranks of one node; use `topobroker job add` there"
                );
                place_list_on_nodes(&hosts, &list, &policy, count)?
            }
            None => {
                let policy = self.mapping.policy(map_by.unwrap_or("slot"))?;
                place_on_nodes(&hosts, &policy, count)?
            }
        };
        let lines = placed.iter().map(|it| {
            let pus = it.cpuset.as_ref().map_or("-".to_owned(), |set| set.to_text(Format::List));
            format!("{} {} {pus}\n", it.rank, it.node.name())
        });
        output::print(&lines.collect::<String>())
    }
}

/// A node, such as n1, or n1:8 with its slots.
fn host<'c>(cluster: &'c Cluster<'_>, text: &str) -> anyhow::Result<Host<'c>> {
    if let Some(node) = cluster.node_by_name(text) {
        return Ok(Host::from(node));
    }
    let (name, slots) = text.rsplit_once(':').map_or((text, None), |it| (it.0, Some(it.1)));
    let node = cluster.node_by_name(name);
    let node = node.with_context(|| format!("--nodes {name}: the cluster has no such node"))?;
    let slots = slots.map(|slots| {
        let number = slots.parse().ok().filter(|slots| (1..=MAX_RANKS).contains(slots));
        let found = || format!("--nodes {text}, slots: found {slots:?}, expected 1 to {MAX_RANKS}");
        number.with_context(found)
    });
    Ok(Host { node, slots: slots.transpose()? })
}
