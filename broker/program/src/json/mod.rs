//! The documents that commands print with `--json`. Types are in files by their subjects, and all
//! words of JSON are names of their fields. `docs/json/topobroker.schema.json` is made of them.

mod cluster;
mod devices;
mod jobs;
mod node;
mod object;
#[cfg(test)]
mod schema;
mod tables;

pub(crate) use cluster::{
    Change, Cluster, ClusterNode, End, FabricCounts, FabricLink, Group, HopsOfPairs, NamedNode,
    Network, NodePort, NodesAlike, PairOfPorts, Pairs, Path, Paths, PortsOfNodes, Reached,
    SignedLine, Switch, Unpaired,
};
pub(crate) use devices::{
    AnyPort, Device, DevicePort, FoundNetwork, Interface, LinkPath, Near, Nic, NicPort, Port,
};
pub(crate) use jobs::{
    GpusOfRank, Groups, InfoOfRank, InstanceOfRank, Job, NicsOfRank, Peer, RankLocality, RankOfJob,
    Ranks, UrisOfRank,
};
pub(crate) use node::{
    Answer, Audit, Bound, Calculated, Call, CpuQuota, Finding, Misbound, Process, ProcessOfAudit,
    Scope, Segment, Status, Task,
};
pub(crate) use object::{Object, Set, ShortObject};
pub(crate) use tables::{Topology, cpu_kinds, distances, levels, memory_attributes};

use serde::Serialize;

/// The text of a document.
pub(crate) fn text(document: &impl Serialize) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(document)? + "\n";
    // Those of ASCII are escaped already.
    let is_control = |letter: char| letter.is_control() && letter != '\n';
    if !text.contains(is_control) {
        return Ok(text);
    }
    let escaped = |letter: char| match is_control(letter) {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    };
    Ok(text.chars().map(escaped).collect())
}
