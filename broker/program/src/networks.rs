//! `topobroker networks`: the networks of a node, and which of them its jobs use.

use super::subject::Subject;
use super::{json, output};
use clap::Args;
use std::collections::BTreeMap;
use std::process::ExitCode;
use topobroker::nics::{NicFilter, nodes_reached};
use topobroker_cluster::Rails;
use topobroker_reader::Object;
use topobroker_reader::cluster::{ClusterOpenError, adopt_cluster};
use topobroker_reader::devices::{Network, NetworkId, NicChoice, Port};
use topobroker_reader::text::known_rate;

/// List the networks of the node, the one that jobs use first
#[derive(Debug, Args)]
pub(super) struct Networks {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    site: SiteNics,
    /// Only NICs that are known to be active
    #[arg(long)]
    active: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Which NICs may be used.
#[derive(Debug, Args)]
pub(super) struct SiteNics {
    /// Only this network: infiniband, roce, ethernet, slingshot, efa, omni-path, a subnet such as
    /// fe80:0000:0000:0001 or 10.1.0.0/16, or what `topobroker networks` prints
    #[arg(long, value_name = "NETWORK", env = "TOPOBROKER_NETWORK")]
    network: Option<String>,
    /// Only these NICs, as UCX and NCCL write them: =mlx5_0:1,mlx5_1 or mlx5_* or ^mlx5_2
    #[arg(long, value_name = "NICS", env = "TOPOBROKER_NIC")]
    nic: Option<String>,
    /// Without these NICs, such as mlx5_an*
    #[arg(long, value_name = "NICS", env = "TOPOBROKER_NO_NIC")]
    no_nic: Option<String>,
}

impl SiteNics {
    /// The filter that the options say. If TOPOBROKER_CLUSTER names a cluster, networks that reach
    /// all of its nodes come first, and ranks have the NICs of their rails.
    pub(super) fn filter(&self) -> anyhow::Result<NicFilter> {
        let (filter, reach) = self.filter_and_reach()?;
        Ok(if reach.is_some() { filter.on_rails(on_rails()?) } else { filter })
    }

    fn filter_and_reach(&self) -> anyhow::Result<(NicFilter, Option<Reach>)> {
        let [network, only, without] =
            [&self.network, &self.nic, &self.no_nic].map(|text| text.as_deref());
        let filter = NicFilter::new(network, only, without)?;
        let Some((nodes, reached)) = reach()? else { return Ok((filter, None)) };
        let everywhere = reached.iter().filter(|(_, count)| **count == nodes);
        let filter = filter.preferring(everywhere.map(|(network, _)| *network).collect());
        Ok((filter, Some((nodes, reached))))
    }
}

/// The number of nodes of a cluster, and how many of them each network reaches.
type Reach = (u32, BTreeMap<NetworkId, u32>);

/// The reach over the cluster that TOPOBROKER_CLUSTER names; `None` if it names none.
fn reach() -> anyhow::Result<Option<Reach>> {
    match adopt_cluster() {
        Err(ClusterOpenError::NoFile) => Ok(None),
        cluster => {
            let cluster = cluster?;
            // A file of a node may have no states of ports.
            let reached = nodes_reached(cluster, NicChoice::ActiveOrUnknown)?;
            Ok(Some((cluster.node_count(), reached)))
        }
    }
}

/// The NICs of this node by the rails of the cluster's fabric.
fn on_rails() -> anyhow::Result<BTreeMap<String, String>> {
    let cluster = adopt_cluster()?;
    let rails = Rails::of(cluster)?;
    let found = rails.zip(cluster.local()).map(|(rails, node)| rails.on_node(node.number()));
    Ok(found.unwrap_or_default())
}

impl Networks {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let (filter, reach) = self.site.filter_and_reach()?;
        let choice = NicChoice::new(!self.active);
        output::print(&self.subject.answer(None, |topology| {
            let networks = filter.networks(topology, choice);
            if self.json {
                let all: Vec<_> = networks.iter().map(|it| described(it, reach.as_ref())).collect();
                return json::text(&all);
            }
            if let Some(why) = filter.why_none(topology, choice) {
                anyhow::bail!("there is no network for jobs: {why}");
            }
            let reaching = |network: &Network<'_>| match &reach {
                None => String::new(),
                Some((nodes, reached)) => {
                    let count = reached.get(&network.id).copied().unwrap_or(0);
                    format!(", reaches {count} of {nodes} nodes")
                }
            };
            Ok(networks.iter().map(|it| line(it) + &reaching(it) + "\n").collect())
        })?)
    }
}

/// The names of the networks that a job does not use, because it uses the first one.
pub(super) fn not_used(networks: &[Network<'_>]) -> Option<String> {
    let (first, others) = networks.split_first()?;
    let others: Vec<String> = others.iter().map(line).collect();
    (!others.is_empty()).then(|| format!("uses {}; not used: {}", line(first), others.join("; ")))
}

/// What a user should know if NICs of a network are in IP subnets of their own, as those of rails
/// and those of storage are: no source says whether they can reach each other.
pub(super) fn subnets_apart<'a>(network: &Network<'a>) -> Option<String> {
    let subnets = |nic: &Object<'a>| nic.ip_subnets().collect::<Vec<_>>();
    let (first, others) = network.nics.split_first()?;
    let own = subnets(first);
    let is_apart = |nic: &&Object<'a>| !subnets(nic).iter().any(|it| own.contains(it));
    let other = others.iter().filter(|nic| !subnets(nic).is_empty()).find(is_apart)?;
    let (name, subnet) = (first.device_name(), own.first()?);
    Some(format!(
        "{name} is in the IP subnet {subnet}, {} in {}; if they do not reach each other, choose \
         one with --network {subnet}",
        other.device_name(),
        subnets(other).join(" "),
    ))
}

fn line(network: &Network<'_>) -> String {
    let name = |nic: &Object<'_>| match nic.ip_subnets().collect::<Vec<_>>().join(" ") {
        subnets if subnets.is_empty() => nic.device_name().into_owned(),
        subnets => format!("{} ({subnets})", nic.device_name()),
    };
    let names: Vec<_> = network.nics.iter().map(name).collect();
    format!("{}, {} together: {}", network.id, known_rate(network.mbps), names.join(" "))
}

fn described<'a>(network: &Network<'a>, reach: Option<&Reach>) -> json::FoundNetwork<'a> {
    let port = |port: Port<'_>| json::NicPort {
        port: port.number,
        active: port.is_active(),
        rate_mbps: port.rate_mbps(),
    };
    let nic = |nic: &Object<'a>| json::Nic {
        name: nic.device_name(),
        interface: nic.interface().and_then(Object::name),
        rate_mbps: nic.link_mbps(),
        ip_subnets: nic.ip_subnets().collect(),
        ports: nic.ports().map(port).collect(),
    };
    json::FoundNetwork {
        network: network.id.to_string(),
        kind: network.id.kind(),
        subnet: network.id.subnet().map(|it| format!("{it:#018x}")),
        rate_mbps: network.mbps,
        nodes: reach.map(|(_, reached)| reached.get(&network.id).copied().unwrap_or(0)),
        nics: network.nics.iter().map(nic).collect(),
    }
}
