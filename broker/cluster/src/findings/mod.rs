//! What is wrong with a cluster as a whole: it is seen only when nodes are compared.

mod nics;
mod slurm;

pub use slurm::slurm_findings;

use crate::gather::MEMLOCK;
use crate::slurm::fold;
use nics::{Devices, miscabled};
use std::collections::BTreeMap;
use topobroker::findings::{Finding, FindingKind, named};
use topobroker_reader::{
    ObjectType,
    cluster::{Cluster, ClusterOpenError},
    devices::prefix_text,
};

/// A port of a node, as far as subnets go.
struct SubnetPort {
    node: String,
    port: String,
    prefix: u64,
    guid: u64,
    lid: Option<u16>,
    /// The plane of the fabric that the port is in.
    plane: Option<u16>,
}

/// What is wrong with a cluster: separate networks of one subnet prefix, limits of locked memory
/// that differ between nodes, NICs that are not as on other nodes of the class, and cables in the
/// switch of another rail.
///
/// # Errors
///
/// [`ClusterOpenError`] if a part is damaged.
pub fn cluster_findings(cluster: &Cluster<'_>) -> Result<Vec<Finding>, ClusterOpenError> {
    let mut ports = Vec::new();
    let mut nics = Devices::default();
    let mut limits: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let fabric = cluster.fabric()?;
    let planes: BTreeMap<u64, u16> = fabric.ports().map(|it| (it.guid(), it.plane())).collect();
    for node in cluster.nodes() {
        let opened = node.open()?;
        let archive = opened.archive();
        let topology = archive.topology();
        if let Some(limit) = topology.root().fact(MEMLOCK) {
            limits.entry(limit.to_owned()).or_default().push(node.name().to_owned());
        }
        let devices = || topology.objects_with_type(ObjectType::OSDevice);
        nics.add(node, devices());
        for port in devices().flat_map(|device| device.ports()).filter(|port| port.is_active()) {
            let Some((gid, guid)) = port.gid(0).zip(port.guid()) else { continue };
            ports.push(SubnetPort {
                node: node.name().to_owned(),
                port: named(port),
                prefix: u64::try_from(gid.to_bits() >> 64).unwrap_or_default(),
                guid,
                lid: port.lid().filter(|lid| *lid > 0),
                plane: planes.get(&guid).copied(),
            });
        }
    }
    let found = shared_prefix(&ports).into_iter().chain(memlock(&limits)).chain(nics.findings());
    Ok(found.chain(miscabled(cluster)?).collect())
}

/// Ports of one subnet prefix that are proved to be on different networks: by one LID at two ports,
/// which no network has, or by a fabric that does not connect them.
fn shared_prefix(ports: &[SubnetPort]) -> Option<Finding> {
    let mut by_lid: BTreeMap<(u64, u16), &SubnetPort> = BTreeMap::new();
    let mut by_plane: BTreeMap<u64, &SubnetPort> = BTreeMap::new();
    let named = |port: &SubnetPort| format!("{} {}", port.node, port.port);
    let text = |one: &SubnetPort, other: &SubnetPort, proof: String| {
        format!(
            "{} and {} have the subnet prefix {}, and are on different networks: {proof}; give \
             the subnet manager of each network a prefix of its own",
            named(one),
            named(other),
            prefix_text(one.prefix)
        )
    };
    for port in ports {
        if let Some(lid) = port.lid
            && let Some(other) = by_lid.insert((port.prefix, lid), port)
            && other.guid != port.guid
        {
            let proof = format!("both have LID {lid}");
            return Some(Finding::new(FindingKind::SharedPrefix, text(other, port, proof)));
        }
        if let Some(plane) = port.plane {
            let first = by_plane.entry(port.prefix).or_insert(port);
            if first.plane != Some(plane) {
                let proof = "the fabric has no way between them".to_owned();
                return Some(Finding::new(FindingKind::SharedPrefix, text(first, port, proof)));
            }
        }
    }
    None
}

/// Limits that differ between nodes: those that fewer nodes have come first.
fn memlock(limits: &BTreeMap<String, Vec<String>>) -> Option<Finding> {
    if limits.len() < 2 {
        return None;
    }
    let all: usize = limits.values().map(Vec::len).sum();
    let mut groups: Vec<(&String, &Vec<String>)> = limits.iter().collect();
    groups.sort_by_key(|(_, nodes)| nodes.len());
    let worded = groups.iter().map(|(limit, nodes)| {
        let unit = if *limit == "unlimited" { "" } else { " bytes" };
        let names = fold(nodes.iter().map(String::as_str));
        format!("{} of {all} nodes: {limit}{unit} ({names})", nodes.len())
    });
    let text = format!(
        "how much memory processes may lock differs between nodes: {}; restart the daemons that \
         start processes with one limit",
        worded.collect::<Vec<_>>().join("; ")
    );
    Some(Finding::new(FindingKind::Memlock, text))
}
