//! `topobroker cluster fabric`: switches, links and distances.

use super::opened::{Opened, named};
use crate::{json, output};
use clap::Args;
use serde_json::{Value, json};
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
            let value = match (&self.from, &self.to) {
                (Some(from), Some(to)) => between_as_json(&cluster, fabric, from, to)?,
                _ if self.links => fabric.switches().map(switch_as_json).collect(),
                _ => counts_as_json(fabric),
            };
            return output::print(&json::text(&value)?);
        }
        let text = match (&self.from, &self.to) {
            (Some(from), Some(to)) => between(&cluster, fabric, from, to)?,
            _ if self.links => links(fabric),
            _ => counts(fabric),
        };
        output::print(&text)
    }
}

/// What there is how often.
fn totals(fabric: Fabric<'_>) -> [(&'static str, usize); 6] {
    let ports: Vec<FabricVertex<'_>> = fabric.ports().collect();
    let of_switches: usize = fabric.switches().map(|it| usize::from(it.port_count())).sum();
    let used: usize = fabric.switches().map(|switch| switch.links().len()).sum();
    let planes = fabric.ports().chain(fabric.switches()).map(|it| it.plane()).max();
    [
        ("switches", fabric.switches().len()),
        ("ports of nodes", ports.len()),
        ("ports of nodes in the cluster", ports.iter().filter(|it| it.node().is_some()).count()),
        ("links", fabric.link_count()),
        ("unconnected ports of switches", of_switches.saturating_sub(used)),
        ("planes", planes.map_or(0, |plane| usize::from(plane) + 1)),
    ]
}

fn counts_as_json(fabric: Fabric<'_>) -> Value {
    let totals = totals(fabric).map(|(name, value)| (name.replace(' ', "_"), Value::from(value)));
    let mut value: serde_json::Map<String, Value> = totals.into_iter().collect();
    let pairs = fabric.port_pairs().into_iter();
    let pairs = pairs.map(|(hops, count)| json!({ "hops": hops, "pairs": count }));
    value.insert("pairs_by_hops".to_owned(), pairs.collect());
    value.into()
}

fn switch_as_json(switch: FabricVertex<'_>) -> Value {
    let links = switch.links().map(|link| {
        json!({
            "port": link.port,
            "peer": end(link.peer),
            "peer_port": link.peer_port,
            "rate_mbps": link.mbps,
        })
    });
    let links: Vec<Value> = links.collect();
    json!({ "switch": end(switch), "links": links })
}

fn end(vertex: FabricVertex<'_>) -> Value {
    json!({ "guid": format!("{:#018x}", vertex.guid()), "name": vertex.name() })
}

fn between_as_json<'a>(
    cluster: &'a Cluster<'a>,
    fabric: Fabric<'_>,
    from: &str,
    to: &str,
) -> anyhow::Result<Value> {
    let (from, to) = (named(cluster, from)?, named(cluster, to)?);
    let common = cluster.groups()?.common(from, to);
    let mut ports = Vec::new();
    for one in fabric.ports_of(from) {
        for other in fabric.ports_of(to) {
            ports.push(json!({
                "from": format!("{:#018x}", one.guid()),
                "to": format!("{:#018x}", other.guid()),
                "hops": fabric.hops(one, other),
            }));
        }
    }
    Ok(json!({ "group": common.name(), "kind": common.kind().name(), "ports": ports }))
}

fn counts(fabric: Fabric<'_>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: usize| {
        let _ = writeln!(text, "{name}: {value}");
    };
    totals(fabric).into_iter().for_each(|(name, value)| line(name, value));
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
