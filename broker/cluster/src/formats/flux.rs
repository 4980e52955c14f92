//! A cluster for Flux: the resource graph as JGF, and the resource set R.

use super::slurm_nodes::core_count;
use crate::fold_in_order;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::{
    Object, ObjectType,
    cluster::{Cluster, ClusterNode, ClusterOpenError, NodeGroup},
};

/// Levels of a node that a graph for Flux may have next to cores and GPUs, by the names of fluxion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FluxLevels {
    /// `socket`: packages.
    pub sockets: bool,
    /// `numanode`: the NUMA nodes whose memory is the default of their PUs.
    pub numa_nodes: bool,
    /// `L3cache`.
    pub l3_caches: bool,
    /// `pu` below each core.
    pub pus: bool,
}

/// The cluster as Flux's JSON Graph Format: cluster, groups, nodes, cores and GPUs, and the
/// `levels` between. Ids of what is in a node begin at 0 in each node, as in fluxion's reader of
/// hwloc's XML.
///
/// # Errors
///
/// [`ClusterOpenError`] if a part is damaged.
pub fn jgf(cluster: &Cluster<'_>, levels: FluxLevels) -> Result<Value, ClusterOpenError> {
    let mut graph = Graph { levels, ..Graph::default() };
    let groups = cluster.groups()?;
    graph.group(groups.root(), None)?;
    Ok(json!({ "graph": { "nodes": graph.vertices, "edges": graph.edges } }))
}

#[derive(Default)]
struct Graph {
    levels: FluxLevels,
    vertices: Vec<Value>,
    edges: Vec<Value>,
    /// Number of groups of each kind so far.
    counts: BTreeMap<&'static str, u64>,
}

/// A vertex that others are put below: its number and path.
type Above<'p> = (usize, &'p str);

impl Graph {
    fn group(
        &mut self,
        group: NodeGroup<'_>,
        above: Option<Above<'_>>,
    ) -> Result<(), ClusterOpenError> {
        let kind = group.kind().name();
        let count = self.counts.entry(kind).or_default();
        let id = std::mem::replace(count, *count + 1);
        let name = match group.name() {
            "" => format!("{kind}{id}"),
            name => name.to_owned(),
        };
        let (own, path) = self.vertex(kind, &name, id, -1, above);
        for child in group.children() {
            self.group(child, Some((own, &path)))?;
        }
        group.own_nodes().try_for_each(|node| self.node(node, (own, &path)))
    }

    fn node(&mut self, node: ClusterNode<'_>, above: Above<'_>) -> Result<(), ClusterOpenError> {
        let rank = node.number();
        let own = self.vertex("node", node.name(), rank.into(), rank.into(), Some(above));
        let opened = node.open()?;
        let archive = opened.archive();
        let topology = archive.topology();
        let cores = topology.objects_with_type(ObjectType::Core).count();
        let part = Part {
            rank: rank.into(),
            numa_nodes: topology.default_numa_nodes().collect(),
            gpus: topology.gpus().collect(),
            core: if cores > 0 { ObjectType::Core } else { ObjectType::PU },
        };
        self.object(topology.root(), &part, (own.0, &own.1));
        Ok(())
    }

    /// Adds what is in an object of a node: the object itself if it is of a level, its GPUs, and
    /// what is below.
    fn object(&mut self, object: Object<'_>, part: &Part<'_>, above: Above<'_>) {
        let mut own = (above.0, above.1.to_owned());
        let kind = match object.object_type() {
            kind if kind == part.core => Some("core"),
            ObjectType::Package if self.levels.sockets => Some("socket"),
            ObjectType::L3Cache if self.levels.l3_caches => Some("L3cache"),
            ObjectType::PU if self.levels.pus => Some("pu"),
            _ => None,
        };
        let numa_node = part.numa_nodes.iter().find(|node| {
            let is_normal = |it: &Object<'_>| it.object_type().is_normal();
            self.levels.numa_nodes && node.ancestors().find(is_normal) == Some(object)
        });
        for (kind, object) in
            kind.map(|kind| (kind, object)).into_iter().chain(numa_node.map(|it| ("numanode", *it)))
        {
            let id = object.logical_index();
            own = self.vertex(
                kind,
                &format!("{kind}{id}"),
                id.into(),
                part.rank,
                Some((own.0, &own.1)),
            );
        }
        for (gpu, id) in part.gpus.iter().zip(0..) {
            if gpu.non_io_ancestor() == object {
                self.vertex("gpu", &format!("gpu{id}"), id, part.rank, Some((own.0, &own.1)));
            }
        }
        if object.object_type() == part.core && !self.levels.pus {
            return;
        }
        object.children().for_each(|child| self.object(child, part, (own.0, &own.1)));
    }

    /// Adds a vertex below another; returns its number and path.
    fn vertex(
        &mut self,
        kind: &'static str,
        name: &str,
        id: u64,
        rank: i64,
        above: Option<Above<'_>>,
    ) -> (usize, String) {
        let path = above.map_or("", |(_, path)| path);
        let (number, path) = (self.vertices.len(), format!("{path}/{name}"));
        self.vertices.push(json!({
            "id": number.to_string(),
            "metadata": {
                "type": kind,
                "basename": name.trim_end_matches(|it: char| it.is_ascii_digit()),
                "name": name,
                "id": id,
                "uniq_id": number,
                "rank": rank,
                "exclusive": false,
                "unit": "",
                "size": 1,
                "paths": { "containment": path },
            },
        }));
        if let Some((above, _)) = above {
            self.edges.push(json!({
                "source": above.to_string(),
                "target": number.to_string(),
                "metadata": { "subsystem": "containment" },
            }));
        }
        (number, path)
    }
}

/// What the vertices of a node are made of.
struct Part<'a> {
    rank: i64,
    numa_nodes: Vec<Object<'a>>,
    gpus: Vec<Object<'a>>,
    /// The type of objects that are cores: PUs, if the cores are not known.
    core: ObjectType,
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
        let cores = core_count(topology);
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
