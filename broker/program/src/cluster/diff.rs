//! `topobroker cluster diff`: what differs between two clusters.

use super::list::path;
use super::opened::{Opened, named};
use crate::output;
use clap::Args;
use similar::{ChangeTag, TextDiff};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::causes::with_causes;
use topobroker::description::describe;
use topobroker::format::xml;
use topobroker_reader::cluster::{
    Cluster, ClusterNode, ClusterOpenError, FabricLink, FabricVertex,
};

/// Print what differs between two clusters: - is a node that only the first has, + one that only
/// the second has, ~ one that differs. Or between two nodes: of one cluster, or each of a file of hwloc's XML
/// or a segment. The exit status is 1 if anything differs or cannot be compared
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// File of a cluster or node
    one: PathBuf,
    /// File of another one; or the name of a node of the cluster, if another name follows
    other: PathBuf,
    /// The name of another node
    node: Option<String>,
    /// Also print the lines of XML that differ
    #[arg(long)]
    lines: bool,
}

impl Diff {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(name) = &self.node {
            let opened = Opened::read(&self.one)?;
            let cluster = opened.cluster(&self.one)?;
            let first = named(&cluster, &self.other.to_string_lossy())?;
            return self.nodes(first, named(&cluster, name)?);
        }
        let (left, right) = (Opened::of_any(&self.one)?, Opened::of_any(&self.other)?);
        let (one, other) = (left.cluster(&self.one)?, right.cluster(&self.other)?);
        if left.is_node() && right.is_node() {
            let first = one.nodes().next().zip(other.nodes().next());
            return first.map_or(Ok(ExitCode::SUCCESS), |(one, other)| self.nodes(one, other));
        }
        let (mut text, mut failed) = (String::new(), false);
        for node in one.nodes() {
            let Some(counterpart) = other.node_by_name(node.name()) else {
                let _ = writeln!(text, "- {}", node.name());
                continue;
            };
            match self.compare(node, counterpart) {
                Ok(found) => text += &found,
                // Other nodes may be sound.
                Err(error) => {
                    output::say(&format!("{}: {}", node.name(), with_causes(&error)));
                    failed = true;
                }
            }
        }
        for node in other.nodes().filter(|node| one.node_by_name(node.name()).is_none()) {
            let _ = writeln!(text, "+ {}", node.name());
        }
        for (sign, cluster, without) in [("-", &one, &other), ("+", &other, &one)] {
            let known: Vec<&str> = without.missing()?.collect();
            for name in cluster.missing()?.filter(|name| !known.contains(name)) {
                let _ = writeln!(text, "{sign} {name} (missing)");
            }
        }
        if links(&one)? != links(&other)? {
            let _ = writeln!(text, "~ the fabric: its switches, ports or links differ");
        }
        let is_same = text.is_empty() && !failed;
        output::print(&text)?;
        Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Prints what differs between two nodes of any names.
    fn nodes(&self, one: ClusterNode<'_>, other: ClusterNode<'_>) -> anyhow::Result<ExitCode> {
        let text = self.compare(one, other)?;
        output::print(&text)?;
        Ok(if text.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// What differs between two nodes; nothing if they are the same.
    fn compare(
        &self,
        node: ClusterNode<'_>,
        counterpart: ClusterNode<'_>,
    ) -> Result<String, ClusterOpenError> {
        let (before, after) = (node.open()?, counterpart.open()?);
        let (before, after) = (before.archive(), after.archive());
        let [old, new] = [before.topology(), after.topology()];
        let mut text = String::new();
        let mut differs = |what: &str| _ = writeln!(text, "~ {}: {what}", node.name());
        let groups = [path(node.group()?), path(counterpart.group()?)];
        if groups[0] != groups[1] {
            differs(&format!("in {:?} instead of {:?}", groups[1].join("/"), groups[0].join("/")));
        }
        if node.boot() != counterpart.boot() {
            differs("published in another boot");
        }
        let [before, after] = [xml::export(old), xml::export(new)];
        if before == after {
            // Facts are in no XML.
            if describe(old) != describe(new) {
                differs("ports or limits differ");
            }
            return Ok(text);
        }
        let (before, after): (Vec<&str>, Vec<&str>) =
            (before.lines().collect(), after.lines().collect());
        let pairs = || before.iter().zip(&after).filter(|(before, after)| before != after);
        differs(&match before.len() != after.len() {
            true => format!("{} lines of XML instead of {}", after.len(), before.len()),
            false => format!("{} lines of XML differ", pairs().count()),
        });
        if self.lines && before.len() == after.len() {
            for (before, after) in pairs() {
                let _ = writeln!(text, "  - {}\n  + {}", before.trim(), after.trim());
            }
        } else if self.lines {
            for change in TextDiff::from_slices(&before, &after).iter_all_changes() {
                let sign = match change.tag() {
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                    ChangeTag::Equal => continue,
                };
                let _ = writeln!(text, "  {sign} {}", change.value().trim());
            }
        }
        Ok(text)
    }
}

/// A link by the GUIDs and ports of its ends, with its rate.
type LinkEnds = (u64, u16, u64, u16, Option<u32>);

/// The links of a fabric.
fn links(cluster: &Cluster<'_>) -> Result<BTreeSet<LinkEnds>, ClusterOpenError> {
    let fabric = cluster.fabric()?;
    let vertices = fabric.switches().chain(fabric.ports());
    let of = |it: FabricVertex<'_>| {
        let link = move |link: FabricLink<'_>| {
            (it.guid(), link.port, link.peer.guid(), link.peer_port, link.mbps)
        };
        it.links().map(link).collect::<Vec<_>>()
    };
    Ok(vertices.flat_map(of).collect())
}
