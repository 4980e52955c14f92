//! `topobroker cluster fabric`: switches, links and distances.

use super::opened::{Opened, named};
use crate::{json, output};
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_reader::cluster::{Cluster, Fabric, FabricVertex};
use topobroker_reader::text::rate;

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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let fabric = cluster.fabric()?;
        if self.json {
            let text = match (&self.from, &self.to) {
                (Some(from), Some(to)) => json::text(&paths(&cluster, fabric, from, to)?),
                _ if self.links => json::text(&fabric.switches().map(links_of).collect::<Vec<_>>()),
                _ => json::text(&totals(fabric)),
            };
            return output::print(&text?);
        }
        let text = match (&self.from, &self.to) {
            (Some(from), Some(to)) => between(&cluster, fabric, from, to)?,
            _ if self.links => links(fabric),
            _ => counts(fabric),
        };
        output::print(&text)
    }
}

fn totals(fabric: Fabric<'_>) -> json::FabricCounts {
    let ports: Vec<FabricVertex<'_>> = fabric.ports().collect();
    let of_switches: usize = fabric.switches().map(|it| usize::from(it.port_count())).sum();
    let used: usize = fabric.switches().map(|switch| switch.links().len()).sum();
    let planes = fabric.ports().chain(fabric.switches()).map(|it| it.plane()).max();
    let pairs = fabric.port_pairs().into_iter();
    json::FabricCounts {
        switches: fabric.switches().len(),
        ports_of_nodes: ports.len(),
        ports_of_nodes_in_the_cluster: ports.iter().filter(|it| it.node().is_some()).count(),
        links: fabric.link_count(),
        unconnected_ports_of_switches: of_switches.saturating_sub(used),
        planes: planes.map_or(0, |plane| usize::from(plane) + 1),
        pairs_by_hops: pairs.map(|(hops, pairs)| json::HopsOfPairs { hops, pairs }).collect(),
    }
}

fn links_of(switch: FabricVertex<'_>) -> json::Switch<'_> {
    let links = switch.links().map(|link| json::FabricLink {
        port: link.port,
        peer: end(link.peer),
        peer_port: link.peer_port,
        rate_mbps: link.mbps,
    });
    json::Switch { switch: end(switch), links: links.collect() }
}

fn end(vertex: FabricVertex<'_>) -> json::End<'_> {
    json::End { guid: guid(vertex), name: vertex.name() }
}

fn guid(vertex: FabricVertex<'_>) -> String {
    format!("{:#018x}", vertex.guid())
}

fn paths<'a>(
    cluster: &'a Cluster<'a>,
    fabric: Fabric<'_>,
    from: &str,
    to: &str,
) -> anyhow::Result<json::Paths<'a>> {
    let (from, to) = (named(cluster, from)?, named(cluster, to)?);
    let common = cluster.groups()?.common(from, to);
    let mut ports = Vec::new();
    for one in fabric.ports_of(from) {
        for other in fabric.ports_of(to) {
            let way = fabric.way(one, other);
            let (hops, rate_mbps) = (way.map(|it| it.hops), way.and_then(|it| it.mbps));
            ports.push(json::Path { from: guid(one), to: guid(other), hops, rate_mbps });
        }
    }
    Ok(json::Paths { group: common.name(), kind: common.kind().name(), ports })
}

fn counts(fabric: Fabric<'_>) -> String {
    let totals = totals(fabric);
    let mut text = String::new();
    let mut line = |name: &str, value: u64| {
        let _ = writeln!(text, "{name}: {value}");
    };
    for (name, count) in [
        ("switches", totals.switches),
        ("ports of nodes", totals.ports_of_nodes),
        ("ports of nodes in the cluster", totals.ports_of_nodes_in_the_cluster),
        ("links", totals.links),
        ("unconnected ports of switches", totals.unconnected_ports_of_switches),
        ("planes", totals.planes),
    ] {
        line(name, count as u64);
    }
    for json::HopsOfPairs { hops, pairs } in totals.pairs_by_hops {
        let hops = hops.map_or("unconnected".to_owned(), |hops| format!("{hops} links apart"));
        line(&format!("pairs {hops}"), pairs);
    }
    text
}

fn links(fabric: Fabric<'_>) -> String {
    let mut text = String::new();
    for vertex in fabric.switches() {
        let _ = writeln!(text, "switch {:#018x} {}", vertex.guid(), vertex.name());
        for link in vertex.links() {
            let rate = link.mbps.map_or("unknown".to_owned(), |it| rate(it.into()));
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
            let way = match fabric.way(one, other) {
                None => "not connected".to_owned(),
                Some(way) => {
                    let unknown = if way.has_unknown { ", or less" } else { "" };
                    let known = way.mbps.map(|mbps| format!(", {}{unknown}", rate(mbps.into())));
                    format!("{} links{}", way.hops, known.as_deref().unwrap_or(", rate unknown"))
                }
            };
            let _ = writeln!(text, "{:#018x} to {:#018x}: {way}", one.guid(), other.guid());
        }
    }
    Ok(text)
}
