//! `topobroker cluster ports` and `check`: the ports of all nodes.

use super::above::SlurmFile;
use super::opened::Opened;
use crate::check::described;
use crate::{json, output};
use anyhow::Context;
use clap::Args;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::findings::{named, prefix_of, worded};
use topobroker_cluster::gather::MEMLOCK;
use topobroker_cluster::{cluster_findings, fold, slurm_findings};
use topobroker_reader::{
    ObjectType,
    devices::{Port, prefix_text},
};

/// Print what is wrong with a cluster as a whole; with --slurm, also where that topology is not the
/// fabric that is there. The exit status is 1 if anything is
#[derive(Debug, Args)]
pub(super) struct Check {
    /// File of the cluster
    file: PathBuf,
    #[command(flatten)]
    slurm: SlurmFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let mut findings = cluster_findings(&cluster)?;
        if let Some(topology) = self.slurm.read()? {
            findings.extend(slurm_findings(&cluster, &topology)?);
        }
        let text = match self.json {
            true => json::text(&findings.iter().map(|it| described(it, None)).collect::<Vec<_>>())?,
            false => findings.iter().map(|finding| format!("{finding}\n")).collect(),
        };
        output::print(&text)?;
        Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// List the ports of all nodes; nodes whose ports are alike are in one paragraph
#[derive(Debug, Args)]
pub(super) struct Ports {
    /// File of the cluster
    file: PathBuf,
    /// Only ports of this subnet, such as fe80:0000:0000:0000, fe80:: or 0xfe80000000000000
    #[arg(long, value_name = "PREFIX")]
    subnet: Option<String>,
    /// Leave out names of nodes, for a request for help
    #[arg(long)]
    anonymous: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Ports {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let prefix = |text: &String| {
            let expected = "expected a subnet prefix such as fe80:0000:0000:0000";
            prefix_of(text).with_context(|| format!("--subnet {text}: {expected}"))
        };
        let wanted = self.subnet.as_ref().map(prefix).transpose()?;
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut documents: BTreeMap<String, json::PortsOfNodes> = BTreeMap::new();
        for node in cluster.nodes() {
            let topology = node.open()?;
            let archive = topology.archive();
            let topology = archive.topology();
            let devices = topology.objects_with_type(ObjectType::OSDevice);
            let ports = devices.flat_map(|device| device.ports());
            let is_wanted = |port: &Port<'_>| wanted.is_none() || port.subnet_prefix() == wanted;
            let ports: Vec<Port<'_>> = ports.filter(is_wanted).collect();
            let mut lines: String = ports.iter().map(|port| line(*port) + "\n").collect();
            let limit = topology.root().fact(MEMLOCK);
            if let Some(limit) = limit.filter(|_| self.subnet.is_none()) {
                let _ = writeln!(lines, "  may lock {limit}");
            }
            if !lines.is_empty() {
                if self.json {
                    documents.entry(lines.clone()).or_insert_with(|| json::PortsOfNodes {
                        nodes: None,
                        count: 0,
                        ports: ports.iter().map(|port| port_of_node(*port)).collect(),
                        may_lock: limit.map(str::to_owned),
                    });
                }
                alike.entry(lines).or_default().push(node.name().to_owned());
            }
        }
        if self.json {
            for (lines, document) in &mut documents {
                let nodes = alike.get(lines).map(Vec::as_slice).unwrap_or_default();
                document.count = nodes.len();
                document.nodes = (!self.anonymous).then(|| fold(nodes.iter().map(String::as_str)));
            }
            return output::print(&json::text(&documents.into_values().collect::<Vec<_>>())?);
        }
        let mut text = String::new();
        for (lines, nodes) in alike {
            let names = fold(nodes.iter().map(String::as_str));
            let names = if self.anonymous { String::new() } else { format!(": {names}") };
            let _ = write!(text, "{} nodes{names}\n{lines}", nodes.len());
        }
        output::print(&text)
    }
}

/// A port, without what only it has: GUID, LID and serial number.
fn line(port: Port<'_>) -> String {
    let mut parts = vec![format!("  {}", named(port)), worded(port.state()).to_owned()];
    parts.extend(port.rate().map(str::to_owned));
    parts.extend(port.subnet_prefix().map(|it| format!("subnet {}", prefix_text(it))));
    parts.join("  ")
}

fn port_of_node(port: Port<'_>) -> json::NodePort {
    json::NodePort {
        port: named(port),
        state: worded(port.state()),
        rate: port.rate().map(str::to_owned),
        rate_mbps: port.rate_mbps(),
        subnet: port.subnet_prefix().map(prefix_text),
    }
}
