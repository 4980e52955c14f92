//! Which port of a fabric belongs to which node.

use super::graph::FabricGraph;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use topobroker_reader::{ObjectType, Topology};

/// What identifies the ports of a node: their GUIDs, which are the low halves of their GIDs, and
/// the GUIDs of the adapters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostPorts(Vec<u64>);

impl HostPorts {
    /// Those of the OpenFabrics devices of a topology.
    #[must_use]
    pub fn of(topology: Topology<'_>) -> Self {
        let devices = topology.objects_with_type(ObjectType::OSDevice);
        let guids = devices.flat_map(|device| {
            device.infos().filter_map(|info| {
                let is_gid = info.name.starts_with("Port") && info.name.ends_with("GID0");
                let digits: String = info.value.chars().filter(|it| *it != ':').collect();
                let low = match (is_gid, info.name) {
                    (true, _) => digits.get(16..)?,
                    (false, "NodeGUID") => digits.as_str(),
                    _ => return None,
                };
                u64::from_str_radix(low, 16).ok()
            })
        });
        Self(guids.collect())
    }
}

/// Which ports of a fabric belong to which nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matching {
    /// Numbers of nodes by the GUIDs of their ports.
    pub nodes: BTreeMap<u64, usize>,
    /// Nodes that have no port in the fabric.
    pub nodes_without: Vec<usize>,
    /// Names of ports of hosts that belong to no node.
    pub ports_without: Vec<String>,
    /// Number of ports of routers, and of what switches have to reduce data (SHARP): they are of no
    /// host.
    pub not_of_hosts: usize,
}

impl FabricGraph {
    /// Finds the node of each port: by its GUID, otherwise by its name, whose first word is the
    /// node's.
    #[must_use]
    pub fn matching<'n>(&self, nodes: impl Iterator<Item = (&'n str, &'n HostPorts)>) -> Matching {
        let (mut by_guid, mut by_name) = (HashMap::new(), HashMap::new());
        let mut count = 0;
        for (number, (name, ports)) in nodes.enumerate() {
            count = number + 1;
            by_name.insert(name, number);
            by_guid.extend(ports.0.iter().map(|guid| (*guid, number)));
        }
        let mut matching = Matching::default();
        for (guid, port) in &self.ports {
            let of_guid = by_guid.get(guid).or_else(|| by_guid.get(&port.adapter));
            let of_name = || by_name.get(port.name.split_whitespace().next().unwrap_or_default());
            match of_guid.or_else(of_name) {
                Some(node) => {
                    matching.nodes.insert(*guid, *node);
                }
                None if port.is_of_no_host() => matching.not_of_hosts += 1,
                None => matching.ports_without.push(port.name.clone()),
            }
        }
        let with: BTreeSet<&usize> = matching.nodes.values().collect();
        matching.nodes_without = (0..count).filter(|node| !with.contains(node)).collect();
        matching
    }
}
