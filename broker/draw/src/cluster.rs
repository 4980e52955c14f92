//! The picture of a cluster: groups such as switches, with their nodes in the colour of their
//! class.

use crate::arrange::arrange;
use crate::fold::{Fold, fold};
use crate::legend::coloured;
use crate::picture::{BoxKind, Picture, Units};
use crate::shape::NestedBox;
use std::collections::BTreeMap;
use topobroker_reader::ObjectType;
use topobroker_reader::cluster::{Cluster, ClusterNode, ClusterOpenError, GroupKind, NodeGroup};

/// Most nodes that are drawn one by one: of more, each group has one box for each class.
const MOST_NODES: u32 = 1000;

/// Most classes that the legend describes.
const MOST_CLASSES: usize = 24;

/// The picture of a cluster.
///
/// # Errors
///
/// [`ClusterOpenError`], if the file is damaged.
pub fn cluster(
    cluster: &Cluster<'_>,
    which: Fold,
    units: Units,
) -> Result<Picture, ClusterOpenError> {
    let root = cluster.groups()?.root();
    let classes = classes(cluster);
    let commonest = classes.iter().max_by_key(|(_, (_, count))| *count).map(|(class, _)| *class);
    let drawing = Drawing { by_class: cluster.node_count() > MOST_NODES, commonest };
    let mut shape = drawing.group(root)?;
    fold(&mut shape, which);
    let mut legend = Vec::new();
    for (class, (first, count)) in classes.into_iter().take(MOST_CLASSES) {
        let is_unmarked = !drawing.by_class && commonest == Some(class);
        let mark = if is_unmarked { String::new() } else { format!(" [{class}]") };
        let text = format!("class {class}{mark}: {count} nodes, {}", parts(first)?);
        legend.push(coloured(text, class.into()));
    }
    let title = format!("Cluster of {} nodes", cluster.node_count());
    let picture = arrange(&title, shape, legend, units, None);
    Ok(Picture { hint: "n007, leaf3, class 2", ..picture })
}

/// The first node of each class, and how many there are.
fn classes<'a>(cluster: &'a Cluster<'a>) -> BTreeMap<u16, (ClusterNode<'a>, usize)> {
    let mut classes = BTreeMap::new();
    for node in cluster.nodes() {
        classes.entry(node.class()).or_insert((node, 0)).1 += 1;
    }
    classes
}

struct Drawing {
    /// Whether groups have a box for each class, and not for each node.
    by_class: bool,
    /// The class of most nodes, which are not marked.
    commonest: Option<u16>,
}

impl Drawing {
    fn group(&self, group_of_nodes: NodeGroup<'_>) -> Result<NestedBox, ClusterOpenError> {
        let (kind, count) = (group_of_nodes.kind(), group_of_nodes.node_count());
        let label = match group_of_nodes.name() {
            "" => format!("{} ({count} nodes)", kind.name()),
            name => format!("{} {name} ({count} nodes)", kind.name()),
        };
        let box_kind = match kind {
            GroupKind::Cluster => BoxKind::Machine,
            GroupKind::Switch => BoxKind::Package,
            _ => BoxKind::Group,
        };
        let mut shape = NestedBox::new(box_kind, label);
        shape.likeness = format!("{} {count}", kind.name());
        shape
            .look
            .details
            .extend(group_of_nodes.speed().map(|speed| format!("link speed {speed}")));
        for child in group_of_nodes.children() {
            shape.children.push(self.group(child)?);
        }
        let mut nodes: BTreeMap<u16, usize> = BTreeMap::new();
        for node in group_of_nodes.own_nodes() {
            if self.by_class {
                *nodes.entry(node.class()).or_default() += 1;
                continue;
            }
            let mut own =
                NestedBox::new(BoxKind::Core, format!("{}, class {}", node.name(), node.class()));
            own.look.text = vec![self.name(node)];
            own.likeness = String::from("node");
            own.look.colour = Some(node.class().into());
            shape.children.push(own);
        }
        for (class, count) in nodes {
            let nodes = if count == 1 { "node" } else { "nodes" };
            let mut own =
                NestedBox::new(BoxKind::Core, format!("{count} {nodes} of class {class}"));
            own.look.text = vec![format!("{count} {nodes} [{class}]")];
            own.look.colour = Some(class.into());
            shape.children.push(own);
        }
        Ok(shape)
    }

    /// Name of a node, with the number of its class if it is not that of most nodes.
    fn name(&self, node: ClusterNode<'_>) -> String {
        match self.commonest == Some(node.class()) {
            true => node.name().to_owned(),
            false => format!("{} [{}]", node.name(), node.class()),
        }
    }
}

/// What a node has.
fn parts(node: ClusterNode<'_>) -> Result<String, ClusterOpenError> {
    let opened = node.open()?;
    let archive = opened.archive();
    let topology = archive.topology();
    let count = |kind| topology.objects_with_type(kind).count();
    let (packages, cores) = (count(ObjectType::Package), count(ObjectType::Core));
    let pus = count(ObjectType::PU);
    let gpus = topology.gpus().count();
    let gpus = if gpus > 0 { format!(", {gpus} GPUs") } else { String::new() };
    Ok(format!("{packages} packages, {cores} cores, {pus} PUs{gpus}"))
}
