//! Findings about ports.

use super::finding::{Finding, FindingKind};
use topobroker_reader::{
    ObjectType, Topology,
    devices::{LinkLayer, Port, PortState},
};

/// The subnet prefix that ports are made with.
const FACTORY_PREFIX: u64 = 0xfe80 << 48;

/// What is wrong with the ports of a node: none is active, or several active ones have the
/// factory's subnet prefix. A node without OpenFabrics devices has no findings. Counterpart: the
/// warnings of Open MPI's openib BTL.
#[must_use]
pub fn ports(topology: Topology<'_>) -> Vec<Finding> {
    let devices = topology.objects_with_type(ObjectType::OSDevice);
    let ports: Vec<Port<'_>> = devices.flat_map(|device| device.ports()).collect();
    no_active_port(&ports).into_iter().chain(default_prefix(&ports)).collect()
}

fn no_active_port(ports: &[Port<'_>]) -> Option<Finding> {
    if ports.is_empty() || ports.iter().any(|port| port.is_active()) {
        return None;
    }
    let states: Vec<String> =
        ports.iter().map(|port| format!("{} is {}", named(*port), worded(port.state()))).collect();
    let states = states.join(", ");
    if ports.iter().any(|port| port.state().is_none()) {
        let text = format!(
            "no port is known to be active: {states}; topologies that were saved may have no \
             states, `topobroker ports --input machine` reads them on the node"
        );
        return Some(Finding::note(FindingKind::NoActivePort, text));
    }
    let text = format!(
        "expected an active port, found none: {states}; a port that is down has no cable or a \
         switch that is off, one that is init waits for a subnet manager"
    );
    Some(Finding::new(FindingKind::NoActivePort, text))
}

fn default_prefix(ports: &[Port<'_>]) -> Option<Finding> {
    // If the link layer of a port is unknown, so is whether it has a subnet.
    let is_infiniband = |port: &Port<'_>| port.link_layer() == Some(LinkLayer::InfiniBand);
    let has_prefix = |port: &Port<'_>| {
        port.gid(0).is_some_and(|gid| (gid.to_bits() >> 64) as u64 == FACTORY_PREFIX)
    };
    let found: Vec<String> = ports
        .iter()
        .filter(|port| port.is_active() && is_infiniband(port) && has_prefix(port))
        .map(|port| named(*port))
        .collect();
    let text = || {
        format!(
            "{} active ports have the factory's subnet prefix fe80:0000:0000:0000: {}; MPI \
             libraries take ports of one prefix to be on one network: if these are on several, \
             give the subnet manager of each a prefix of its own",
            found.len(),
            found.join(", ")
        )
    };
    (found.len() > 1).then(|| Finding::new(FindingKind::DefaultPrefix, text()))
}

/// The name of a port, such as `mlx5_0:1`.
pub fn named(port: Port<'_>) -> String {
    format!("{}:{}", port.device.name().unwrap_or("-"), port.number)
}

/// A subnet prefix from a text: as Linux prints it, as an address such as `fe80::`, or as
/// `0xfe80000000000000`.
pub fn prefix_of(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let address = if text.contains("::") { text.to_owned() } else { format!("{text}::") };
    let bits = address.parse::<std::net::Ipv6Addr>().ok()?.to_bits();
    u64::try_from(bits >> 64).ok()
}

/// A state in words.
pub fn worded(state: Option<PortState>) -> &'static str {
    match state {
        Some(PortState::Down) => "down",
        Some(PortState::Init) => "init",
        Some(PortState::Armed) => "armed",
        Some(PortState::Active) => "active",
        Some(PortState::ActiveDefer) => "active, deferred",
        None => "of unknown state",
    }
}
