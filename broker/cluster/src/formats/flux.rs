//! A cluster for Flux: the resource graph as JGF, and the resource set R.

use crate::fold_in_order;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{
    ObjectType,
    cluster::{Cluster, ClusterNode, ClusterOpenError, NodeGroup},
};

/// The cluster as Flux's JSON Graph Format: cluster, groups, nodes, cores and GPUs.
///
/// # Errors
///
/// [`ClusterOpenError`] if a part is damaged.
pub fn jgf(cluster: &Cluster<'_>) -> Result<Value, ClusterOpenError> {
    let mut graph = Graph::default();
    let groups = cluster.groups()?;
    graph.group(groups.root(), None, "")?;
    Ok(json!({ "graph": { "nodes": graph.vertices, "edges": graph.edges } }))
}

#[derive(Default)]
struct Graph {
    vertices: Vec<Value>,
    edges: Vec<Value>,
    counts: BTreeMap<&'static str, u64>,
}

impl Graph {
    fn group(
        &mut self,
        group: NodeGroup<'_>,
        above: Option<usize>,
        path: &str,
    ) -> Result<(), ClusterOpenError> {
        let kind = group.kind().name();
        let name =
            if group.name().is_empty() { kind.to_owned() + "0" } else { group.name().to_owned() };
        let (own, path) = self.vertex(kind, &name, -1, above, path);
        for child in group.children() {
            self.group(child, Some(own), &path)?;
        }
        group.own_nodes().try_for_each(|node| self.node(node, own, &path))
    }

    fn node(
        &mut self,
        node: ClusterNode<'_>,
        above: usize,
        path: &str,
    ) -> Result<(), ClusterOpenError> {
        let rank = i64::from(node.number());
        let (own, path) = self.vertex("node", node.name(), rank, Some(above), path);
        let opened = node.open()?;
        let archive = opened.archive();
        let topology = archive.topology();
        for core in topology.objects_with_type(ObjectType::Core) {
            self.vertex("core", &format!("core{}", core.logical_index()), rank, Some(own), &path);
        }
        for (gpu, _) in topology.gpus().enumerate() {
            self.vertex("gpu", &format!("gpu{gpu}"), rank, Some(own), &path);
        }
        Ok(())
    }

    /// Adds a vertex below another; returns its number and path.
    fn vertex(
        &mut self,
        kind: &'static str,
        name: &str,
        rank: i64,
        above: Option<usize>,
        path: &str,
    ) -> (usize, String) {
        let (number, path) = (self.vertices.len(), format!("{path}/{name}"));
        let count = self.counts.entry(kind).or_default();
        self.vertices.push(json!({
            "id": number.to_string(),
            "metadata": {
                "type": kind,
                "basename": name.trim_end_matches(|it: char| it.is_ascii_digit()),
                "name": name,
                "id": *count,
                "uniq_id": number,
                "rank": rank,
                "exclusive": false,
                "unit": "",
                "size": 1,
                "paths": { "containment": path },
            },
        }));
        *count += 1;
        if let Some(above) = above {
            self.edges.push(json!({
                "source": above.to_string(),
                "target": number.to_string(),
                "metadata": { "subsystem": "containment" },
            }));
        }
        (number, path)
    }
}

/// The cluster as Flux's resource set R: ranks of nodes with equal numbers of cores and GPUs are
/// one row.
///
/// # Errors
///
/// [`ClusterOpenError`] if a class is damaged.
pub fn r(cluster: &Cluster<'_>) -> Result<Value, ClusterOpenError> {
    let mut alike: BTreeMap<(usize, usize), Set> = BTreeMap::new();
    for node in cluster.nodes() {
        let opened = node.open()?;
        let archive = opened.archive();
        let topology = archive.topology();
        let cores = topology.objects_with_type(ObjectType::Core).count();
        alike.entry((cores, topology.gpus().count())).or_default().insert(node.number());
    }
    let range = |count: usize| match count {
        1 => "0".to_owned(),
        count => format!("0-{}", count - 1),
    };
    let rows = alike.iter().map(|((cores, gpus), ranks)| {
        let mut children = serde_json::Map::new();
        for (name, count) in [("core", *cores), ("gpu", *gpus)] {
            if count > 0 {
                children.insert(name.to_owned(), range(count).into());
            }
        }
        json!({ "rank": ranks.to_text(Format::List), "children": children })
    });
    let names: Vec<&str> = cluster.nodes().map(|node| node.name()).collect();
    Ok(json!({
        "version": 1,
        "execution": {
            "R_lite": rows.collect::<Vec<_>>(),
            "starttime": 0,
            "expiration": 0,
            "nodelist": [fold_in_order(&names)],
        },
    }))
}
