//! NICs of nodes that are not as those of the other nodes of their class.

use crate::majority::majority;
use crate::rails::{Leaf, Rails};
use crate::slurm::fold;
use std::collections::BTreeMap;
use topobroker::findings::{Finding, FindingKind};
use topobroker_reader::text::rate;
use topobroker_reader::{
    Object, OsDeviceKind,
    cluster::{Cluster, ClusterNode, ClusterOpenError},
};

/// What a network device of a node is like.
struct Device {
    node: String,
    name: String,
    active_ports: usize,
    mbps: Option<u64>,
}

/// The network devices of all nodes, by class and place on the node.
#[derive(Default)]
pub(super) struct Devices(BTreeMap<(u16, u32), Vec<Device>>);

impl Devices {
    pub(super) fn add<'a>(
        &mut self,
        node: ClusterNode<'_>,
        devices: impl Iterator<Item = Object<'a>>,
    ) {
        let is_network = |it: &Object<'_>| {
            matches!(it.os_device_kind(), Some(OsDeviceKind::OpenFabrics | OsDeviceKind::Network))
        };
        for device in devices.filter(is_network) {
            let key = (node.class(), device.logical_index());
            self.0.entry(key).or_default().push(Device {
                node: node.name().to_owned(),
                name: device.name().unwrap_or("-").to_owned(),
                active_ports: device.ports().filter(|port| port.is_active()).count(),
                mbps: device.link_mbps(),
            });
        }
    }

    /// Other names, fewer active ports and lower rates than most nodes of the class have.
    pub(super) fn findings(&self) -> Vec<Finding> {
        self.0.values().flat_map(|alike| other_than_most(alike)).collect()
    }
}

fn other_than_most(alike: &[Device]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut other = |kind, differing: BTreeMap<String, Vec<&str>>, most: String| {
        for (what, nodes) in differing {
            let text = format!("{}: {what}; {most}", fold(nodes));
            found.push(Finding::new(kind, text));
        }
    };
    let grouped = |value: &dyn Fn(&Device) -> Option<String>| {
        let mut devices: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for device in alike {
            if let Some(what) = value(device) {
                devices.entry(what).or_default().push(&device.node);
            }
        }
        devices
    };
    if let Some(name) = majority(alike.iter().map(|device| device.name.as_str())) {
        let is_named = |device: &Device| {
            (device.name != name).then(|| format!("a NIC is named {}", device.name))
        };
        let most =
            format!("most nodes of this kind name it {name}: name interfaces and devices alike");
        other(FindingKind::NicName, grouped(&is_named), most);
    }
    if let Some(ports) = majority(alike.iter().map(|device| device.active_ports)) {
        let has_fewer = |device: &Device| {
            let (name, active) = (&device.name, device.active_ports);
            (active < ports).then(|| format!("{name} has {active} active ports"))
        };
        let most =
            format!("on most nodes of this kind it has {ports}: look at cables and switches");
        other(FindingKind::FewerPorts, grouped(&has_fewer), most);
    }
    if let Some(Some(mbps)) = majority(alike.iter().map(|device| device.mbps)) {
        let is_slower = |device: &Device| {
            let own = device.mbps.filter(|own| *own < mbps)?;
            Some(format!("{} has a rate of {}", device.name, rate(own)))
        };
        let most = format!(
            "on most nodes of this kind it has {}: look at cables and switches",
            rate(mbps)
        );
        other(FindingKind::Slow, grouped(&is_slower), most);
    }
    found
}

/// NICs whose cables are in the switch of another rail, or whose addresses are in its subnet.
pub(super) fn miscabled(cluster: &Cluster<'_>) -> Result<Vec<Finding>, ClusterOpenError> {
    let Some(rails) = Rails::of(cluster)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for node in cluster.nodes() {
        for nic in rails.miscabled(node.number()) {
            let (where_it_is, advice) = match &nic.leaf {
                Leaf::Switch(_) => ("on the rail".to_owned(), "swap its cable"),
                Leaf::Subnet(subnet) => {
                    (format!("in {subnet}, the IP subnet"), "give it an address of its rail")
                }
            };
            let text = format!(
                "{}: {}, NIC {} of the node, is {where_it_is} of NICs {} of other nodes; {advice}",
                node.name(),
                nic.nic,
                nic.number,
                nic.rail
            );
            found.push(Finding::new(FindingKind::Rail, text));
        }
    }
    Ok(found)
}
