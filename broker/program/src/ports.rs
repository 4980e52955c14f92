//! `topobroker ports`: ports of OpenFabrics devices, and network interfaces.

use super::input::Input;
use super::{json, output};
use clap::Args;
use std::process::ExitCode;
use topobroker::findings::{named, worded};
use topobroker_reader::text::rate;
use topobroker_reader::{
    Object, ObjectType, Topology,
    devices::{LinkLayer, LinkState, Port, prefix_text},
};

/// List the ports of OpenFabrics devices, and network interfaces: state, rate, subnet
///
/// If the topology is of this node, states are those of now
#[derive(Debug, Args)]
pub(super) struct Ports {
    #[command(flatten)]
    input: Input,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Ports {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let text = self.input.now(|now| {
            let topology = now.topology;
            if self.json {
                let all: Vec<_> = ports(topology)
                    .map(described)
                    .chain(interfaces(topology).map(described_interface))
                    .collect();
                return json::text(&all);
            }
            let lines =
                ports(topology).map(line).chain(interfaces(topology).map(line_of_interface));
            Ok(lines.map(|line| line + "\n").collect())
        });
        output::print(&text?)
    }
}

fn ports(topology: Topology<'_>) -> impl Iterator<Item = Port<'_>> {
    topology.objects_with_type(ObjectType::OSDevice).flat_map(Object::ports)
}

fn interfaces(topology: Topology<'_>) -> impl Iterator<Item = Object<'_>> {
    let is_interface = |it: &Object<'_>| it.interface() == Some(*it);
    topology.objects_with_type(ObjectType::OSDevice).filter(is_interface)
}

fn line(port: Port<'_>) -> String {
    let mut parts = vec![named(port), worded(port.state()).to_owned()];
    parts.extend(port.physical_state().map(without_number).map(str::to_owned));
    parts.extend(port.link_layer().map(|it| layer(it).to_owned()));
    parts.extend(port.rate().map(str::to_owned));
    parts.extend(port.lid().filter(|it| *it != 0).map(|it| format!("LID {it:#x}")));
    parts.extend(port.sm_lid().filter(|it| *it != 0).map(|it| format!("SM LID {it:#x}")));
    parts.extend(subnet(port).map(|it| format!("subnet {it}")));
    let pkeys = pkeys(port).join(",");
    parts.extend((!pkeys.is_empty()).then(|| format!("pkeys {pkeys}")));
    parts.join("  ")
}

fn line_of_interface(interface: Object<'_>) -> String {
    let mut parts =
        vec![interface.name().unwrap_or("-").to_owned(), state_of_interface(interface).to_owned()];
    parts.extend(interface.link_mbps().map(rate));
    parts.join("  ")
}

fn described(port: Port<'_>) -> json::AnyPort<'_> {
    json::AnyPort::Port(json::Port {
        device: port.device.name(),
        port: port.number,
        node_type: port.device.fact("NodeType").map(without_number),
        state: port.state().map(|state| worded(Some(state))),
        physical_state: port.physical_state().map(without_number),
        link_layer: port.link_layer().map(layer),
        rate: port.rate(),
        rate_mbps: port.rate_mbps(),
        lid: port.lid(),
        sm_lid: port.sm_lid(),
        gid: port.gid(0).map(|gid| gid.to_string()),
        subnet: subnet(port),
        pkeys: pkeys(port),
    })
}

fn described_interface(interface: Object<'_>) -> json::AnyPort<'_> {
    json::AnyPort::Interface(json::Interface {
        device: interface.name(),
        state: interface.fact("OperState"),
        rate_mbps: interface.link_mbps(),
        address: interface.info("Address"),
    })
}

fn state_of_interface(interface: Object<'_>) -> &'static str {
    match interface.link_state() {
        LinkState::Active => "up",
        LinkState::Inactive => "down",
        LinkState::Unknown => "of unknown state",
    }
}

fn layer(layer: LinkLayer) -> &'static str {
    match layer {
        LinkLayer::InfiniBand => "InfiniBand",
        LinkLayer::Ethernet => "Ethernet",
        LinkLayer::Other => "other",
    }
}

fn subnet(port: Port<'_>) -> Option<String> {
    port.subnet_prefix().map(prefix_text)
}

fn pkeys(port: Port<'_>) -> Vec<String> {
    port.pkeys().map(|key| format!("{key:#06x}")).collect()
}

/// A state as Linux words it, without its number: `LinkUp` of `5: LinkUp`.
fn without_number(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, word)| word)
}
