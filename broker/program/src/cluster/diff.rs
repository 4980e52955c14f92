//! `topobroker cluster diff`: what differs between two clusters.

use super::opened::path;
use super::opened::{Opened, named};
use crate::{json, output};
use clap::Args;
use similar::{ChangeTag, TextDiff};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::description::describe;
use topobroker_process::with_causes;
use topobroker_reader::cluster::{
    Cluster, ClusterNode, ClusterOpenError, FabricLink, FabricVertex,
};
use topobroker_reader::text::xml;

/// Print what differs between two clusters: - is a node that only the first has, + one that only
/// the second has, ~ one that differs. Or between two nodes: two names of one cluster, or two files
/// (hwloc's XML, or a segment). The exit status is 1 if anything differs or cannot be compared
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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Something that differs.
struct Change {
    /// `-`: only the first has it, `+`: only the second, `~`: it differs.
    sign: char,
    /// Name of a node; `None` for the fabric.
    node: Option<String>,
    what: Option<String>,
    /// Lines of XML, each with its sign.
    lines: Vec<(char, String)>,
}

impl Change {
    fn new(sign: char, node: &str, what: Option<String>) -> Self {
        Self { sign, node: Some(node.to_owned()), what, lines: Vec::new() }
    }

    fn text(&self) -> String {
        let node = self.node.as_deref().unwrap_or("the fabric");
        let what = self.what.as_ref().map(|what| match self.sign {
            '~' => format!(": {what}"),
            _ => format!(" ({what})"),
        });
        let lines = self.lines.iter().map(|(sign, line)| format!("  {sign} {line}\n"));
        format!("{} {node}{}\n{}", self.sign, what.unwrap_or_default(), lines.collect::<String>())
    }

    fn described(&self) -> json::Change<'_> {
        let lines = self.lines.iter();
        json::Change {
            sign: self.sign,
            node: self.node.as_deref(),
            what: self.what.as_deref(),
            lines: lines.map(|(sign, line)| json::SignedLine { sign: *sign, line }).collect(),
        }
    }
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
        let (mut changes, mut failed) = (Vec::new(), false);
        for node in one.nodes() {
            let Some(counterpart) = other.node_by_name(node.name()) else {
                changes.push(Change::new('-', node.name(), None));
                continue;
            };
            match self.compare(node, counterpart) {
                Ok(found) => changes.extend(found),
                // Other nodes may be sound.
                Err(error) => {
                    output::complain(&format!("{}: {}", node.name(), with_causes(&error)));
                    failed = true;
                }
            }
        }
        for node in other.nodes().filter(|node| one.node_by_name(node.name()).is_none()) {
            changes.push(Change::new('+', node.name(), None));
        }
        for (sign, cluster, without) in [('-', &one, &other), ('+', &other, &one)] {
            let known: Vec<&str> = without.missing()?.collect();
            for name in cluster.missing()?.filter(|name| !known.contains(name)) {
                changes.push(Change::new(sign, name, Some("missing".to_owned())));
            }
        }
        if links(&one)? != links(&other)? {
            let what = Some("its switches, ports or links differ".to_owned());
            changes.push(Change { sign: '~', node: None, what, lines: Vec::new() });
        }
        self.print(&changes)?;
        let is_same = changes.is_empty() && !failed;
        Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn print(&self, changes: &[Change]) -> anyhow::Result<ExitCode> {
        output::print(&match self.json {
            true => json::text(&changes.iter().map(Change::described).collect::<Vec<_>>())?,
            false => changes.iter().map(Change::text).collect(),
        })
    }

    /// Prints what differs between two nodes of any names.
    fn nodes(&self, one: ClusterNode<'_>, other: ClusterNode<'_>) -> anyhow::Result<ExitCode> {
        let changes = self.compare(one, other)?;
        self.print(&changes)?;
        Ok(if changes.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// What differs between two nodes; nothing if they are the same.
    fn compare(
        &self,
        node: ClusterNode<'_>,
        counterpart: ClusterNode<'_>,
    ) -> Result<Vec<Change>, ClusterOpenError> {
        let (before, after) = (node.open()?, counterpart.open()?);
        let (before, after) = (before.archive(), after.archive());
        let [old, new] = [before.topology(), after.topology()];
        let mut changes = Vec::new();
        let mut differs =
            |what: &str| changes.push(Change::new('~', node.name(), Some(what.to_owned())));
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
            return Ok(changes);
        }
        let (before, after): (Vec<&str>, Vec<&str>) =
            (before.lines().collect(), after.lines().collect());
        let pairs = || before.iter().zip(&after).filter(|(before, after)| before != after);
        differs(&match before.len() != after.len() {
            true => format!("{} lines of XML instead of {}", after.len(), before.len()),
            false => format!("{} lines of XML differ", pairs().count()),
        });
        if let Some(change) = changes.last_mut().filter(|_| self.lines) {
            let line = |sign, line: &str| (sign, line.trim().to_owned());
            change.lines = if before.len() == after.len() {
                pairs().flat_map(|(before, after)| [line('-', before), line('+', after)]).collect()
            } else {
                let all = TextDiff::from_slices(&before, &after);
                let changed = all.iter_all_changes().filter_map(|it| match it.tag() {
                    ChangeTag::Delete => Some(line('-', it.value())),
                    ChangeTag::Insert => Some(line('+', it.value())),
                    ChangeTag::Equal => None,
                });
                changed.collect()
            };
        }
        Ok(changes)
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
