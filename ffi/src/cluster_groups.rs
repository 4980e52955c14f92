//! Groups of nodes of a cluster, and what their nodes have together.

use crate::answer::answer;
use crate::cluster::tb_cluster;
use crate::given::Found;
use crate::pointers::{Buffer, Out, Room, Text};
use crate::status::tb_status;
use crate::structs::Struct;
use alloc::format;
use topobroker_reader::cluster::{ClusterNode, NodeGroup};

/// A group of nodes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_cluster_group {
    /// A tb_group_kind.
    pub kind: i32,
    /// The group that it is in; of the cluster, itself.
    pub parent: u32,
    /// Number of groups above it: 0 for the cluster.
    pub depth: u32,
    /// Number of nodes in it and in all groups below.
    pub nodes: u32,
    /// Speed of its links in the unit that the site uses, 0 if unknown.
    pub speed: u32,
}

/// What nodes have together.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_cluster_sum {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of cores.
    pub cores: u64,
    /// Number of PUs.
    pub pus: u64,
    /// Number of GPUs.
    pub gpus: u64,
    /// Memory of the NUMA nodes, in bytes.
    pub memory: u64,
}

/// Stores what a cluster knows of a group. Group 0 is the cluster itself.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_group_get(
    cluster: Option<&'static tb_cluster>,
    group: u32,
    data: Struct<'_, tb_cluster_group>,
    data_size: usize,
) -> tb_status {
    answer!(data(data_size), |cluster| {
        let group = cluster.group(group)?;
        tb_cluster_group {
            kind: group.kind().raw().into(),
            parent: group.parent().map_or(0, NodeGroup::number),
            depth: u32::try_from(group.depth()).unwrap_or(u32::MAX),
            nodes: group.node_count(),
            speed: group.speed().unwrap_or(0),
        }
    })
}

/// Stores the number of the first group with a name. TB_ERR_NOT_FOUND if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_group_find(
    cluster: Option<&'static tb_cluster>,
    name: Text<'_>,
    group: Out<'_, u32>,
) -> tb_status {
    answer!(group, |name, cluster| {
        let found = cluster.cluster.groups()?.by_name(name).found(|| format!("no group {name}"))?;
        found.number()
    })
}

/// Writes the name of a group with a zero at its end; that of the cluster is empty. `length` (may
/// be NULL) is set to its length without the zero.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_group_name(
    cluster: Option<&'static tb_cluster>,
    group: u32,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |cluster| cluster.group(group)?.name())
}

/// Stores up to `capacity` nodes of a group and of all groups below in `nodes`, and the number of
/// all of them in `count` (may be NULL).
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_group_nodes(
    cluster: Option<&'static tb_cluster>,
    group: u32,
    nodes: Room<'_, u32>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(nodes(capacity, count), |cluster| {
        let group = cluster.group(group)?;
        group.nodes().map(ClusterNode::number)
    })
}

/// Stores the lowest group that two nodes are both in, such as the switch that connects them.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_common(
    cluster: Option<&'static tb_cluster>,
    node: u32,
    other: u32,
    group: Out<'_, u32>,
) -> tb_status {
    answer!(group, |cluster| {
        let node = cluster.node(node)?;
        let other = cluster.node(other)?;
        cluster.cluster.groups()?.common(node, other).number()
    })
}

/// Stores what the nodes of a group and of all groups below have together; group 0 is the cluster.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cluster_totals(
    cluster: Option<&'static tb_cluster>,
    group: u32,
    sum: Struct<'_, tb_cluster_sum>,
    sum_size: usize,
) -> tb_status {
    answer!(sum(sum_size), |cluster| {
        let nodes = cluster.group(group)?.nodes().map(ClusterNode::number);
        let totals = cluster.cluster.totals_of(nodes)?;
        tb_cluster_sum {
            nodes: totals.nodes,
            cores: totals.cores,
            pus: totals.pus,
            gpus: totals.gpus,
            memory: totals.memory,
        }
    })
}
