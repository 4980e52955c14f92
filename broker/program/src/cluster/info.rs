//! `topobroker cluster info`: one node of a cluster.

use super::opened::path;
use super::opened::{Opened, named};
use crate::{json, output};
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_reader::{
    ObjectType, Topology,
    cluster::{ClusterNode, NodeTopology, Place},
    devices::NicChoice,
};

/// Print what a cluster knows of a node: its class, its groups, and what it has
#[derive(Debug, Args)]
pub(super) struct Info {
    /// File of the cluster
    file: PathBuf,
    /// Name of the node. By default the one that this process runs on
    node: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Info {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let node = match &self.node {
            Some(name) => named(&cluster, name)?,
            None => match cluster.local() {
                Some(node) => node,
                None => {
                    let own = topobroker_reader::cluster::Identity::of_this_process().host;
                    named(&cluster, &own)?
                }
            },
        };
        let topology = node.open()?;
        let archive = topology.archive();
        if self.json {
            return output::print(&json::text(&described(node, archive.topology(), &topology)?)?);
        }
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name}: {value}");
        };
        line("name", node.name().to_owned());
        line("number", node.number().to_string());
        line("HostName", topology.host_name());
        let place = if node.place() == Place::Local { "local" } else { "remote" };
        line("place", place.to_owned());
        line("class", node.class().to_string());
        line("groups", path(node.group()?).join("/"));
        let topology = archive.topology();
        let count = |object_type| topology.objects_with_type(object_type).count().to_string();
        line("objects", topology.object_count().to_string());
        for kind in [ObjectType::Package, ObjectType::Core, ObjectType::PU, ObjectType::NUMANode] {
            line(kind.name(), count(kind));
        }
        line("GPUs", topology.gpus().count().to_string());
        if let Some(domain) = topology.nvlink_domain() {
            line("NVLinkDomain", domain.to_owned());
        }
        line("memory", format!("{} bytes", topology.root().total_memory()));
        let networks = topology.networks(NicChoice::ActiveOrUnknown);
        for network in networks {
            let nics: Vec<_> = network.nics.iter().map(|nic| nic.device_name()).collect();
            line("network", format!("{}: {}", network.id, nics.join(" ")));
        }
        output::print(&text)
    }
}

fn described<'a>(
    node: ClusterNode<'a>,
    topology: Topology<'a>,
    opened: &NodeTopology<'_>,
) -> anyhow::Result<json::ClusterNode<'a>> {
    let count = |object_type| topology.objects_with_type(object_type).count();
    let networks = topology.networks(NicChoice::ActiveOrUnknown).into_iter();
    Ok(json::ClusterNode {
        name: node.name(),
        number: node.number(),
        host_name: opened.host_name(),
        local: node.place() == Place::Local,
        class: node.class().into(),
        groups: path(node.group()?),
        objects: topology.object_count(),
        packages: count(ObjectType::Package),
        cores: count(ObjectType::Core),
        pus: count(ObjectType::PU),
        numa_nodes: count(ObjectType::NUMANode),
        gpus: topology.gpus().count(),
        nvlink_domain: topology.nvlink_domain(),
        memory: topology.root().total_memory(),
        networks: networks
            .map(|network| json::Network {
                network: network.id.to_string(),
                nics: network.nics.iter().map(|nic| nic.device_name()).collect(),
            })
            .collect(),
    })
}
