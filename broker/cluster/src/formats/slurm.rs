//! The groups of a cluster as `topology.conf` and `topology.yaml` of Slurm.

use crate::fold;
use std::collections::BTreeSet;
use std::fmt::Write;
use topobroker_reader::cluster::{ClusterOpenError, GroupKind, NodeGroup, NodeGroups};

/// Why groups cannot be written for Slurm.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SlurmTextError {
    /// The groups are damaged.
    #[error(transparent)]
    Cluster(#[from] ClusterOpenError),
    /// A group has both nodes and groups. Slurm's switches have one of them.
    #[error("group {name:?} has both nodes and groups; Slurm's switches have either")]
    Both {
        /// Name of the group.
        name: String,
    },
    /// A name is not one word.
    #[error(
        "{what} {name:?}: a name for Slurm is one word of 1 to 64 letters, digits, dots, hyphens and underscores"
    )]
    Name {
        /// `group` or `node`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two groups have one name.
    #[error("there are two groups {name:?}; Slurm's switches have different names")]
    Twice {
        /// The name.
        name: String,
    },
    /// There are no groups.
    #[error("the cluster has no groups; build it with --slurm, --group or --group-by-fabric")]
    Empty,
}

/// A line of the file: a group that Slurm has, too.
struct Row<'a> {
    group: NodeGroup<'a>,
    nodes: String,
    children: String,
}

/// The groups as `topology.conf`: blocks if all groups are blocks, else switches. Groups without
/// nodes are left out.
///
/// # Errors
///
/// [`SlurmTextError`].
pub fn topology_conf(groups: NodeGroups<'_>) -> Result<String, SlurmTextError> {
    let rows = rows(groups)?;
    let key = if is_of_blocks(&rows) { "BlockName" } else { "SwitchName" };
    let mut text = String::new();
    for Row { group, nodes, children } in rows {
        let _ = write!(text, "{key}={}", group.name());
        let (what, list) =
            if children.is_empty() { ("Nodes", nodes) } else { ("Switches", children) };
        let _ = write!(text, " {what}={list}");
        if let Some(speed) = group.speed() {
            let _ = write!(text, " LinkSpeed={speed}");
        }
        text.push('\n');
    }
    Ok(text)
}

/// The groups as `topology.yaml`.
///
/// # Errors
///
/// [`SlurmTextError`].
pub fn topology_yaml(groups: NodeGroups<'_>) -> Result<String, SlurmTextError> {
    let rows = rows(groups)?;
    let (kind, list, key) = match is_of_blocks(&rows) {
        true => ("block", "blocks", "block"),
        false => ("tree", "switches", "switch"),
    };
    let mut text =
        format!("---\n- topology: topobroker\n  cluster_default: true\n  {kind}:\n    {list}:\n");
    for Row { group, nodes, children } in rows {
        let (what, names) =
            if children.is_empty() { ("nodes", nodes) } else { ("children", children) };
        let _ = write!(text, "      - {key}: \"{}\"\n        {what}: \"{names}\"\n", group.name());
    }
    Ok(text)
}

fn is_of_blocks(rows: &[Row<'_>]) -> bool {
    rows.iter().all(|row| row.group.kind() == GroupKind::Block)
}

fn rows(groups: NodeGroups<'_>) -> Result<Vec<Row<'_>>, SlurmTextError> {
    let mut rows = Vec::new();
    let mut known = BTreeSet::new();
    let plain = |what, name: &str| {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
        let is_one = (1..=64).contains(&name.len()) && name.chars().all(is_plain);
        let wrong = || SlurmTextError::Name { what, name: name.to_owned() };
        if is_one { Ok(()) } else { Err(wrong()) }
    };
    for group in groups.iter().skip(1).filter(|group| group.node_count() > 0) {
        let name = || group.name().to_owned();
        plain("group", group.name())?;
        if !known.insert(group.name()) {
            return Err(SlurmTextError::Twice { name: name() });
        }
        group.own_nodes().try_for_each(|node| plain("node", node.name()))?;
        let children = group.children().filter(|child| child.node_count() > 0);
        let children = fold(children.map(NodeGroup::name));
        let nodes = fold(group.own_nodes().map(|node| node.name()));
        if !nodes.is_empty() && !children.is_empty() {
            return Err(SlurmTextError::Both { name: name() });
        }
        rows.push(Row { group, nodes, children });
    }
    if rows.is_empty() { Err(SlurmTextError::Empty) } else { Ok(rows) }
}
