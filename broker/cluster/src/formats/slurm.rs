//! The groups of a cluster as `topology.conf` and `topology.yaml` of Slurm.

use crate::{fold, fold_in_order};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use topobroker_reader::cluster::{ClusterOpenError, GroupKind, NodeGroup, NodeGroups};

/// Why groups cannot be written for Slurm.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum SlurmTextError {
    /// The groups are damaged.
    #[error(transparent)]
    Cluster(#[from] ClusterOpenError),
    /// A group has both nodes and groups. Slurm's switches have one of them.
    #[error("group {name:?} has both nodes and groups; Slurm's switches have either")]
    Both { name: String },
    /// A name is not one word.
    #[error(
        "{what} {name:?}: a name for Slurm is one word of 1 to 64 letters, digits, dots, hyphens \
         and underscores"
    )]
    Name { what: &'static str, name: String },
    /// Two groups have one name.
    #[error("there are two groups {name:?}; Slurm's switches have different names")]
    Twice { name: String },
    /// Toruses are in no `topology.conf`.
    #[error(
        "the groups are toruses, which Slurm reads from topology.yaml alone: write that with --to \
         slurm-yaml"
    )]
    Torus,
    /// `Topology=` of a node can name only a block or a leaf switch.
    #[error(
        "nodes are in {kind} {name:?}: `Topology=` of Slurm's nodes names blocks and leaf switches"
    )]
    NoUnit { kind: &'static str, name: String },
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

/// The groups as `topology.conf`: blocks or rings if all groups are, otherwise switches. Those
/// without nodes are kept: Slurm joins blocks that follow each other, and takes leaves that are
/// still empty.
///
/// # Errors
///
/// [`SlurmTextError`].
pub fn topology_conf(groups: NodeGroups<'_>) -> Result<String, SlurmTextError> {
    let (kind, rows) = rows(groups)?;
    let key = match kind {
        GroupKind::Block => "BlockName",
        GroupKind::Ring => "RingName",
        GroupKind::Torus => return Err(SlurmTextError::Torus),
        _ => "SwitchName",
    };
    let mut text = String::new();
    for Row { group, nodes, children } in rows {
        let _ = write!(text, "{key}={}", group.name());
        for (what, list) in [("Switches", children), ("Nodes", nodes)] {
            if !list.is_empty() {
                let _ = write!(text, " {what}={list}");
            }
        }
        if let Some(speed) = group.speed() {
            let _ = write!(text, " LinkSpeed={speed}");
        }
        text.push('\n');
    }
    if let Some(sizes) = groups.root().sizes().filter(|_| kind == GroupKind::Block) {
        let _ = writeln!(text, "BlockSizes={sizes}");
    }
    Ok(text)
}

/// The groups as `topology.yaml`, like [`topology_conf`].
///
/// # Errors
///
/// [`SlurmTextError`].
pub fn topology_yaml(groups: NodeGroups<'_>) -> Result<String, SlurmTextError> {
    let (kind, rows) = rows(groups)?;
    let (name, list, key) = match kind {
        GroupKind::Block => ("block", "blocks", "block"),
        GroupKind::Ring => ("ring", "rings", "ring"),
        GroupKind::Torus => ("torus3d", "toruses", "name"),
        _ => ("tree", "switches", "switch"),
    };
    let mut text = format!("---\n- topology: {NAME}\n  cluster_default: true\n  {name}:\n");
    if let Some(sizes) = groups.root().sizes().filter(|_| kind == GroupKind::Block) {
        let _ = writeln!(text, "    block_sizes: [{}]", sizes.replace(',', ", "));
    }
    let _ = writeln!(text, "    {list}:");
    for Row { group, nodes, children } in rows {
        let _ = writeln!(text, "      - {key}: \"{}\"", group.name());
        let mut sizes = group.sizes().into_iter().flat_map(|it| it.split(' ')).filter_map(dims);
        if let Some(own) = sizes.next() {
            let _ = writeln!(text, "        dims: {own}");
        }
        let placements: Vec<String> = sizes.map(|it| format!("          - dims: {it}\n")).collect();
        if !placements.is_empty() {
            let _ = write!(text, "        placements:\n{}", placements.concat());
        }
        for (what, list) in [("children", children), ("nodes", nodes)] {
            if !list.is_empty() {
                let _ = writeln!(text, "        {what}: \"{list}\"");
            }
        }
    }
    Ok(text)
}

/// The sizes of a torus in YAML.
fn dims(sizes: &str) -> Option<String> {
    let [x, y, z]: [&str; 3] = sizes.split('x').collect::<Vec<_>>().try_into().ok()?;
    Some(format!("{{x: {x}, y: {y}, z: {z}}}"))
}

/// What Slurm calls the groups of a file of ours.
const NAME: &str = "topobroker";

/// The block or leaf switch of each node, as `Topology=` of a `NodeName` line has it. Slurm prefers
/// it to the nodes in [`topology_yaml`].
///
/// # Errors
///
/// [`SlurmTextError`].
pub fn topology_units(groups: NodeGroups<'_>) -> Result<BTreeMap<&str, String>, SlurmTextError> {
    let (kind, rows) = rows(groups)?;
    let mut units = BTreeMap::new();
    for Row { group, .. } in rows {
        if matches!(kind, GroupKind::Ring | GroupKind::Torus) {
            let name = group.name().to_owned();
            return Err(SlurmTextError::NoUnit { kind: kind.name(), name });
        }
        let unit = format!("{NAME}:{}", group.name());
        units.extend(group.own_nodes().map(|node| (node.name(), unit.clone())));
    }
    Ok(units)
}

/// The kind that Slurm takes the groups for, and the groups.
fn rows(groups: NodeGroups<'_>) -> Result<(GroupKind, Vec<Row<'_>>), SlurmTextError> {
    let all = || groups.iter().skip(1);
    let own = [GroupKind::Block, GroupKind::Ring, GroupKind::Torus];
    let kind = own.into_iter().find(|kind| all().all(|group| group.kind() == *kind));
    let kind = kind.unwrap_or(GroupKind::Switch);
    let mut rows = Vec::new();
    let mut known = BTreeSet::new();
    let plain = |what, name: &str| {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
        let is_one = (1..=64).contains(&name.len()) && name.chars().all(is_plain);
        let wrong = || SlurmTextError::Name { what, name: name.to_owned() };
        if is_one { Ok(()) } else { Err(wrong()) }
    };
    for group in all() {
        let name = || group.name().to_owned();
        plain("group", group.name())?;
        if !known.insert(group.name()) {
            return Err(SlurmTextError::Twice { name: name() });
        }
        group.own_nodes().try_for_each(|node| plain("node", node.name()))?;
        let children = fold(group.children().map(NodeGroup::name));
        let nodes: Vec<&str> = group.own_nodes().map(|node| node.name()).collect();
        let nodes = match kind {
            GroupKind::Ring | GroupKind::Torus => fold_in_order(&nodes),
            _ => fold(nodes),
        };
        if !nodes.is_empty() && !children.is_empty() {
            return Err(SlurmTextError::Both { name: name() });
        }
        rows.push(Row { group, nodes, children });
    }
    match rows.iter().any(|row| row.group.node_count() > 0) {
        true => Ok((kind, rows)),
        false => Err(SlurmTextError::Empty),
    }
}
