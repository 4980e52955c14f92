//! `topobroker cluster convert`: a cluster for other programs.

use super::opened::Opened;
use crate::output;
use anyhow::ensure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_cluster::formats::{
    FluxLevels, NodeNames, dot, gres_conf, hostfile, jgf, kubernetes_labels, node_names, r, tleaf,
    topology_conf, topology_units, topology_yaml,
};

/// Write a cluster for another program
#[derive(Debug, Args)]
pub(super) struct Convert {
    /// File of the cluster
    file: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    to: Target,
    /// Of jgf: levels of nodes in addition to cores and GPUs, with commas between: socket,
    /// numanode, L3cache, pu
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LEVELS")]
    levels: Vec<GraphLevel>,
    /// Of slurm-nodes: name the block or leaf switch of each node, of the topology that slurm-yaml
    /// writes
    #[arg(long)]
    topology: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GraphLevel {
    /// Packages
    Socket,
    /// NUMA nodes whose memory is the default of their PUs
    #[value(name = "numanode")]
    NumaNode,
    /// L3 caches
    #[value(name = "L3cache")]
    L3Cache,
    /// PUs below cores
    Pu,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Target {
    /// Slurm's topology.conf, out of the groups
    SlurmConf,
    /// Slurm's topology.yaml, out of the groups
    SlurmYaml,
    /// NodeName lines for slurm.conf
    SlurmNodes,
    /// Slurm's gres.conf: the GPUs of nodes
    SlurmGres,
    /// A hostfile of Open MPI and PRRTE: each node with a slot for each core
    Hostfile,
    /// A line for each node with labels for Kubernetes: class, switches, block
    Kubernetes,
    /// Flux's resource graph: cluster, groups, nodes, cores and GPUs
    Jgf,
    /// Flux's resource set
    R,
    /// The fabric for Graphviz
    Dot,
    /// A tree for Scotch, if all parts of each level are alike
    Tleaf,
}

impl Convert {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let opened = Opened::read(&self.file)?;
        let cluster = opened.cluster(&self.file)?;
        ensure!(
            self.levels.is_empty() || matches!(self.to, Target::Jgf),
            "--levels is about --to jgf"
        );
        ensure!(
            !self.topology || matches!(self.to, Target::SlurmNodes),
            "--topology is about --to slurm-nodes"
        );
        let has = |level| self.levels.contains(&level);
        let levels = FluxLevels {
            sockets: has(GraphLevel::Socket),
            numa_nodes: has(GraphLevel::NumaNode),
            l3_caches: has(GraphLevel::L3Cache),
            pus: has(GraphLevel::Pu),
        };
        let text = match self.to {
            Target::SlurmConf => topology_conf(cluster.groups()?)?,
            Target::SlurmYaml => topology_yaml(cluster.groups()?)?,
            Target::SlurmNodes => {
                let groups = if self.topology { Some(cluster.groups()?) } else { None };
                let units = groups.map(topology_units).transpose()?.unwrap_or_default();
                let NodeNames { text, notes } = node_names(&cluster, &units)?;
                notes.iter().for_each(|note| output::say(&format!("note: {note}")));
                text
            }
            Target::SlurmGres => gres_conf(&cluster)?,
            Target::Hostfile => hostfile(&cluster)?,
            Target::Kubernetes => kubernetes_labels(&cluster)?,
            Target::Jgf => serde_json::to_string(&jgf(&cluster, levels)?)? + "\n",
            Target::R => serde_json::to_string(&r(&cluster)?)? + "\n",
            Target::Dot => dot(cluster.fabric()?),
            Target::Tleaf => tleaf(&cluster)?,
        };
        output::print(&text)
    }
}
