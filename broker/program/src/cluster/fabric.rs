//! `topobroker cluster fabric`: switches, links and distances.

use super::opened::{Opened, named};
use crate::output;
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_reader::cluster::{Cluster, Fabric, FabricVertex};

/// Print the fabric of a cluster: how many switches, ports and links there are, and how many pairs
/// of ports are how many links apart
#[derive(Debug, Args)]
pub(super) struct Show {
    /// File of the cluster
    file: PathBuf,
    /// Only the links from the ports of this node to those of the other
    #[arg(requires = "to")]
    from: Option<String>,
    /// The other node
    to: Option<String>,
    /// List the links of each switch
    #[arg(long, conflicts_with = "from")]
    links: bool,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let fabric = cluster.fabric()?;
        let text = match (&self.from, &self.to) {
            (Some(from), Some(to)) => between(&cluster, fabric, from, to)?,
            _ if self.links => links(fabric),
            _ => counts(fabric),
        };
        output::print(&text)
    }
}

fn counts(fabric: Fabric<'_>) -> String {
    let ports: Vec<FabricVertex<'_>> = fabric.ports().collect();
    let of_switches: usize = fabric.switches().map(|it| usize::from(it.port_count())).sum();
    let used: usize = fabric.switches().map(|switch| switch.links().len()).sum();
    let mut text = String::new();
    let mut line = |name: &str, value: usize| {
        let _ = writeln!(text, "{name}: {value}");
    };
    line("switches", fabric.switches().len());
    line("ports of nodes", ports.len());
    line("ports of nodes in the cluster", ports.iter().filter(|it| it.node().is_some()).count());
    line("links", fabric.link_count());
    line("unconnected ports of switches", of_switches.saturating_sub(used));
    let planes =
        ports.iter().chain(&fabric.switches().collect::<Vec<_>>()).map(|it| it.plane()).max();
    line("planes", planes.map_or(0, |plane| usize::from(plane) + 1));
    for (hops, count) in fabric.port_pairs() {
        let hops = hops.map_or("unconnected".to_owned(), |hops| format!("{hops} links apart"));
        line(&format!("pairs {hops}"), usize::try_from(count).unwrap_or(usize::MAX));
    }
    text
}

fn links(fabric: Fabric<'_>) -> String {
    let mut text = String::new();
    for vertex in fabric.switches() {
        let _ = writeln!(text, "switch {:#018x} {}", vertex.guid(), vertex.name());
        for link in vertex.links() {
            let rate = link.mbps.map_or("unknown".to_owned(), |it| format!("{it} Mb/s"));
            let _ = writeln!(
                text,
                "  [{}] {:#018x}[{}] {} {rate}",
                link.port,
                link.peer.guid(),
                link.peer_port,
                link.peer.name()
            );
        }
    }
    text
}

fn between<'a>(
    cluster: &'a Cluster<'a>,
    fabric: Fabric<'_>,
    from: &str,
    to: &str,
) -> anyhow::Result<String> {
    let (from, to) = (named(cluster, from)?, named(cluster, to)?);
    let mut text = String::new();
    let common = cluster.groups()?.common(from, to);
    let name = if common.parent().is_none() { "the cluster" } else { common.name() };
    let _ = writeln!(text, "both are in {name}");
    for one in fabric.ports_of(from) {
        for other in fabric.ports_of(to) {
            let hops = fabric.hops(one, other);
            let hops = hops.map_or("not connected".to_owned(), |hops| format!("{hops} links"));
            let _ = writeln!(text, "{:#018x} to {:#018x}: {hops}", one.guid(), other.guid());
        }
    }
    Ok(text)
}
