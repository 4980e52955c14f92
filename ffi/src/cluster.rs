//! Clusters: many nodes in one segment, and what is above them.

use crate::answer::{answer, means_itself};
use crate::call::{adopting, call};
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::link_paths::tb_link_path;
use crate::links::known;
use crate::object::{object, tb_obj};
use crate::pointers::{Buffer, List, Out, Output, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::structs::{Struct, Structs};
use crate::topology::tb_topology;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use topobroker_process::Global;
use topobroker_reader::{
    Archive,
    cluster::{
        Cluster, ClusterNode, FabricPath, NodeGroup, NodeTopology, Place, adopt_cluster,
        adopt_cluster_file, own_node,
    },
};

/// The cluster that this process has adopted. It is never freed.
pub struct tb_cluster {
    pub(crate) cluster: &'static Cluster<'static>,
    /// The handles of nodes that were opened.
    opened: Vec<Global<OpenedNode>>,
}

means_itself!(tb_cluster);

/// A node that was opened, for the life of the process.
struct OpenedNode {
    topology: tb_topology,
    /// What the topology borrows from. Kept here so that tools that look for leaks find it.
    _archive: &'static Archive<'static>,
    _node: &'static NodeTopology<'static>,
}

static ADOPTED: Global<tb_cluster> = Global::new();
static OWN: Global<tb_topology> = Global::new();

/// What a cluster has.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_cluster_counts {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of classes: nodes of one class have the same structure.
    pub classes: u32,
    /// Number of groups, the cluster itself among them.
    pub groups: u32,
    /// Number of switches of the fabric.
    pub switches: u32,
    /// Number of links of the fabric.
    pub links: u64,
}

/// A node of a cluster.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_cluster_node {
    /// Number of its class.
    pub class_number: u32,
    /// The group that it is directly in, such as its leaf switch.
    pub group: u32,
    /// Whether this process runs on it. Only then its sets can be used for binding.
    pub is_local: bool,
}

impl tb_cluster {
    pub(crate) fn node(&self, node: u32) -> Result<ClusterNode<'static>, Failure> {
        let count = self.cluster.node_count();
        let missing = || Failure::argument(format_args!("node {node}: the cluster has {count}"));
        self.cluster.node(node).ok_or_else(missing)
    }

    pub(crate) fn group(&self, group: u32) -> Result<NodeGroup<'static>, Failure> {
        let groups = self.cluster.groups()?;
        let count = groups.iter().len();
        let missing = || Failure::argument(format_args!("group {group}: the cluster has {count}"));
        groups.iter().nth(group as usize).ok_or_else(missing)
    }
}

/// Adopts the cluster in `file`, and stores it. If `file` is NULL, that of the environment variable
/// TOPOBROKER_CLUSTER. Every later call stores the same pointer, which stays valid for the life of
/// the process. TB_ERR_DIFFERENT if this process has adopted another cluster.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_adopt(
    file: Text<'_>,
    cluster: Out<'_, &'static tb_cluster>,
) -> tb_status {
    adopting(|| {
        let out = cluster.given("cluster")?;
        let cluster = match file.optional("file")? {
            Some(file) => adopt_cluster_file(file)?,
            None => adopt_cluster()?,
        };
        out.write(ADOPTED.get().unwrap_or_else(|| {
            let opened = (0..cluster.node_count()).map(|_| Global::new()).collect();
            ADOPTED.set(tb_cluster { cluster, opened })
        }));
        Ok(())
    })
}

/// Stores what a cluster has.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_count(
    cluster: Option<&'static tb_cluster>,
    counts: Struct<'_, tb_cluster_counts>,
    counts_size: usize,
) -> tb_status {
    answer!(counts(counts_size), |cluster| {
        let cluster = cluster.cluster;
        let groups = cluster.groups()?;
        let fabric = cluster.fabric()?;
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        tb_cluster_counts {
            nodes: cluster.node_count(),
            classes: cluster.class_count(),
            groups: number(groups.iter().len()),
            switches: number(fabric.switches().len()),
            links: fabric.link_count() as u64,
        }
    })
}

/// Stores the number of the node with a name. TB_ERR_NOT_FOUND if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_find(
    cluster: Option<&'static tb_cluster>,
    name: Text<'_>,
    node: Out<'_, u32>,
) -> tb_status {
    answer!(node, |name, cluster| {
        let found = cluster.cluster.node_by_name(name).found(|| format!("no node {name}"))?;
        found.number()
    })
}

/// Stores the number of the node that this process runs on. TB_ERR_NOT_FOUND if it is not in the
/// cluster: then no process can be bound to its nodes.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_local(
    cluster: Option<&'static tb_cluster>,
    node: Out<'_, u32>,
) -> tb_status {
    answer!(node, |cluster| {
        let local = cluster.cluster.local();
        local.found(|| "this node is not in the cluster".to_owned())?.number()
    })
}

/// Stores what a cluster knows of a node.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_node_get(
    cluster: Option<&'static tb_cluster>,
    node: u32,
    data: Struct<'_, tb_cluster_node>,
    data_size: usize,
) -> tb_status {
    answer!(data(data_size), |cluster| {
        let node = cluster.node(node)?;
        tb_cluster_node {
            class_number: node.class().into(),
            group: node.group()?.number(),
            is_local: node.place() == Place::Local,
        }
    })
}

/// Writes the name of a node with a zero at its end. `length` (may be NULL) is set to its length
/// without the zero. Counterpart: the info AssemblerName of hwloc 1.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_node_name(
    cluster: Option<&'static tb_cluster>,
    node: u32,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |cluster| cluster.node(node)?.name())
}

/// Opens a node and stores its topology, which every query takes. Every later call for the node
/// stores the same pointer, which stays valid for the life of the process, with a few kilobytes of
/// the node's own values. Functions for jobs do not take it.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_open(
    cluster: Option<&'static tb_cluster>,
    node: u32,
    topology: Out<'_, &'static tb_topology>,
) -> tb_status {
    call(|| {
        let (cluster, out) = (cluster.given("cluster")?, topology.given("topology")?);
        let found = cluster.node(node)?;
        let slot = cluster.opened.get(node as usize).found(|| format!("no node {node}"))?;
        let opened = match slot.get() {
            Some(opened) => opened,
            None => {
                // Kept for the life of the process, as the documentation says.
                let node: &'static NodeTopology<'static> = Box::leak(Box::new(found.open()?));
                let archive: &'static Archive<'static> = Box::leak(Box::new(node.archive()));
                let topology = tb_topology::of_node(archive.topology());
                slot.set(OpenedNode { topology, _archive: archive, _node: node })
            }
        };
        out.write(&opened.topology);
        Ok(())
    })
}

/// Makes `set` the PUs of an object of a node, for binding to them. TB_ERR_REMOTE if this process
/// does not run on the node: `set` is left as it was.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_bindable(
    cluster: Option<&'static tb_cluster>,
    node: u32,
    obj: tb_obj,
    set: Output<'_, tb_set>,
) -> tb_status {
    answer!(*set, |cluster| {
        let opened = cluster.node(node)?.open()?;
        let archive = opened.archive();
        let found = object(archive.topology(), obj)?;
        opened.bindable(found)?
    })
}

/// Stores the least number of links between a port of one node and a port of another. 2 if they are
/// at one switch. TB_ERR_NOT_FOUND if the fabric has no way.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_hops(
    cluster: Option<&'static tb_cluster>,
    node: u32,
    other: u32,
    hops: Out<'_, u32>,
) -> tb_status {
    answer!(hops, |cluster| {
        let node = cluster.node(node)?;
        let other = cluster.node(other)?;
        let fabric = cluster.cluster.fabric()?;
        let ways = fabric.hops_of_nodes(node, other);
        ways.found(|| "the fabric has no way".to_owned())?
    })
}

/// Stores the ways by the fabric from a node to each of `node_count` others in `paths`, in their
/// order, and their number in `count` (may be NULL). Of the ways of the fewest links the widest one
/// counts, with the bandwidth of its narrowest link; latencies are not known.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_distances(
    cluster: Option<&'static tb_cluster>,
    node: u32,
    nodes: List<'_, u32>,
    node_count: usize,
    paths: Structs<'_, tb_link_path>,
    element_size: usize,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let (cluster, others) = (cluster.given("cluster")?, nodes.get(node_count, "nodes")?);
        let fabric = cluster.cluster.fabric()?;
        let distances = fabric.distances_from(cluster.node(node)?);
        let others = others.iter().map(|other| cluster.node(*other));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        let ways = others.into_iter().map(|other| path_of(distances.to(other)));
        paths.fill(ways, element_size, capacity, count)
    })
}

/// Stores the topology of this process's node, out of the cluster that TOPOBROKER_CLUSTER names.
/// Only the few pages of this node are read, however many nodes there are. Every later call stores
/// the same pointer. TB_ERR_NOT_FOUND if the node is not in the cluster.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_own_node(topology: Out<'_, &'static tb_topology>) -> tb_status {
    adopting(|| {
        let out = topology.given("topology")?;
        let own = own_node()?;
        out.write(OWN.get().unwrap_or_else(|| OWN.set(tb_topology::of_node(own.topology()))));
        Ok(())
    })
}

/// The path between two nodes.
fn path_of(path: Option<FabricPath>) -> tb_link_path {
    tb_link_path {
        is_there: path.is_some(),
        has_unknown_bandwidth: path.is_some_and(|it| it.has_unknown),
        hops: path.map_or(0, |it| u16::try_from(it.hops).unwrap_or(u16::MAX)),
        // From Mb/s.
        bandwidth: known(path.and_then(|it| it.mbps).map(|it| it / 8)),
        latency: known(None),
    }
}
