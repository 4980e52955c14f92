//! Options for what is above the nodes of a cluster: groups and fabrics.

use crate::output::say;
use anyhow::{Context, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use topobroker_cluster::fabric::{FabricGraph, Matching, read_fabric, read_name_map};
use topobroker_cluster::{
    ClusterBuilder, GroupId, SlurmTopology, expand, fold, read_conf, read_yaml,
};
use topobroker_reader::cluster::GroupKind;

/// What is above the nodes.
#[derive(Debug, Args)]
pub(super) struct Above {
    /// Put nodes into a group: NAME=HOSTLIST, such as rack1=node[001-018]
    #[arg(long = "group", value_name = "NAME=HOSTLIST")]
    groups: Vec<String>,
    /// Put nodes into groups as PMIx names them (pmix.fab.grps):
    /// 0:node000,node002;1:node001,node003
    #[arg(long, value_name = "GROUPS")]
    fabric_groups: Option<String>,
    #[command(flatten)]
    slurm: SlurmFile,
    /// Switches and links: what ibnetdiscover printed, with or without -p, or iblinkinfo, with or
    /// without --line. One for each subnet
    #[arg(long, value_name = "FILE")]
    fabric: Vec<PathBuf>,
    /// List all ports of the fabric that belong to no node of the cluster
    #[arg(long, requires = "fabric")]
    unmatched: bool,
    /// Names of switches and ports by GUID: a node name map of the InfiniBand tools
    #[arg(long, value_name = "FILE", requires = "fabric")]
    node_names: Option<PathBuf>,
    /// Put nodes into groups of the leaf switches that they are connected to, and of the switches
    /// above. On rails the nodes of a unit, which are at the same leaves, are one group
    #[arg(long, requires = "fabric", conflicts_with_all = ["slurm", "groups", "fabric_groups"])]
    group_by_fabric: bool,
    /// Put each node into a block of the NVLink domain over nodes that all of its GPUs are in, as
    /// Slurm's topology/block wants it
    #[arg(long, conflicts_with_all = ["slurm", "groups", "fabric_groups", "group_by_fabric"])]
    group_by_nvlink: bool,
}

/// A topology of Slurm.
#[derive(Debug, Args)]
pub(super) struct SlurmFile {
    /// The switches, blocks or rings of this file: Slurm's topology.conf or topology.yaml, or what
    /// scontrol show topology prints
    #[arg(long, value_name = "FILE")]
    slurm: Option<PathBuf>,
    /// The topology of this name in a topology.yaml; by default that of cluster_default, otherwise
    /// the first
    #[arg(long, value_name = "NAME", requires = "slurm")]
    topology: Option<String>,
}

impl SlurmFile {
    pub(super) fn read(&self) -> anyhow::Result<Option<SlurmTopology>> {
        let Some(file) = &self.slurm else { return Ok(None) };
        let is_yaml = file.extension().is_some_and(|it| it == "yaml" || it == "yml");
        if self.topology.is_some() && !is_yaml {
            bail!("--topology: {} is no topology.yaml, which has several", file.display());
        }
        let wanted = self.topology.as_deref();
        let topology = if is_yaml { read_yaml(file, wanted) } else { read_conf(file) }?;
        topology.notes().iter().for_each(|note| say(note));
        Ok(Some(topology))
    }
}

/// What the files and options say.
pub(super) struct ReadAbove<'o> {
    options: &'o Above,
    /// Groups: name and nodes.
    groups: Vec<(&'o str, Vec<String>)>,
    slurm: Option<SlurmTopology>,
    fabric: Option<FabricGraph>,
}

impl Above {
    /// Reads the files, before anything is gathered.
    pub(super) fn read(&self) -> anyhow::Result<ReadAbove<'_>> {
        let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
        let of_options =
            self.groups.iter().map(|group| ("--group", "NAME=HOSTLIST", '=', group.as_str()));
        let of_pmix = self.fabric_groups.iter().flat_map(|all| all.split(';'));
        let of_pmix = of_pmix.map(|group| ("--fabric-groups", "NUMBER:NODE,NODE;...", ':', group));
        for (option, expected, sign, group) in of_options.chain(of_pmix) {
            let (name, hosts) = group
                .split_once(sign)
                .filter(|(name, _)| !name.is_empty())
                .with_context(|| format!("{option} {group}: expected {expected}"))?;
            if groups.iter().any(|(known, _)| *known == name) {
                bail!("{option} {group}: the group {name} is there twice");
            }
            let hosts = expand(hosts).with_context(|| format!("{option} {group}"))?;
            groups.push((name, hosts));
        }
        let slurm = self.slurm.read()?;
        let mut fabric = None;
        if !self.fabric.is_empty() {
            let mut graph = read_fabric(&self.fabric)?;
            if let Some(file) = &self.node_names {
                graph.rename(&read_name_map(file)?);
            }
            fabric = Some(graph);
        }
        Ok(ReadAbove { options: self, groups, slurm, fabric })
    }
}

impl Above {
    fn report_unmatched(&self, matching: &Matching) {
        /// Longest list of names that is printed without being asked for, in bytes.
        const MOST: usize = 200;
        let ports = matching.ports_without.len();
        let mut notes = Vec::new();
        if ports > 0 && self.unmatched {
            notes.push(matching.ports_without.join(", "));
        } else if ports > 0 {
            let hosts = matching.ports_without.iter();
            let hosts = fold(hosts.filter_map(|name| name.split_whitespace().next()));
            let cut = hosts.get(..MOST).and_then(|start| start.rfind(','));
            notes.push(match cut.and_then(|cut| hosts.get(..cut)) {
                Some(start) => format!("{start} and others; --unmatched lists them"),
                None => hosts,
            });
        }
        for names in notes {
            say(&format!("{ports} ports of the fabric belong to no node of the cluster: {names}"));
        }
        if self.unmatched && matching.not_of_hosts > 0 {
            let count = matching.not_of_hosts;
            say(&format!(
                "{count} ports of the fabric are of routers or aggregation nodes, and of no host"
            ));
        }
    }
}

impl ReadAbove<'_> {
    /// The files that were read.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        let Above { slurm, fabric, node_names, .. } = self.options;
        slurm.slurm.iter().chain(fabric).chain(node_names).map(PathBuf::as_path)
    }

    /// Adds groups and fabric to a cluster that has all of its nodes. Says what does not fit.
    pub(super) fn add_to(self, cluster: &mut ClusterBuilder) -> anyhow::Result<()> {
        for (name, hosts) in &self.groups {
            let id = cluster.add_group(GroupId::CLUSTER, GroupKind::Group, name)?;
            let mut unknown = Vec::new();
            for host in hosts {
                if !cluster.move_node(host, id)? {
                    unknown.push(host.clone());
                }
            }
            report(&unknown, &format!("of group {name} are not in the cluster"));
        }
        if let Some(topology) = &self.slurm {
            let applied = cluster.apply(topology)?;
            report(&applied.nodes_without, "are not in Slurm's topology");
            report(&applied.unknown, "of Slurm's topology are not in the cluster");
            let tops = topology.tops();
            if tops.len() > 1 {
                let tops = fold(tops);
                say(&format!(
                    "no switch of Slurm's topology reaches all nodes; at the top are {tops}"
                ));
            }
        }
        if self.options.group_by_nvlink {
            report(&cluster.group_by_nvlink()?, "are in no NVLink domain, or in several");
        }
        if let Some(fabric) = self.fabric {
            let warnings = fabric.warning_count();
            let matching = cluster.set_fabric(fabric);
            let names: Vec<String> = cluster.names().map(str::to_owned).collect();
            let without = matching.nodes_without.iter().filter_map(|at| names.get(*at).cloned());
            report(&without.collect::<Vec<_>>(), "have no port in the fabric");
            self.options.report_unmatched(&matching);
            if warnings > 0 {
                say(&format!(
                    "{warnings} lines of the fabric are warnings of the tool that printed it; it \
                     may be incomplete"
                ));
            }
            if self.options.group_by_fabric {
                cluster.group_by_fabric()?;
            }
        }
        Ok(())
    }
}

fn report(nodes: &[String], what: &str) {
    if !nodes.is_empty() {
        say(&format!("{} nodes {what}: {}", nodes.len(), fold(nodes.iter().map(String::as_str))));
    }
}
