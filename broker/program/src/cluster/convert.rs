//! `topobroker cluster convert`: a cluster for other programs.

use super::opened::Opened;
use crate::output;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker_cluster::formats::{dot, jgf, r, tleaf, topology_conf, topology_yaml};

/// Write a cluster for another program
#[derive(Debug, Args)]
pub(super) struct Convert {
    /// File of the cluster
    file: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    to: Target,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Target {
    /// Slurm's topology.conf, out of the groups
    SlurmConf,
    /// Slurm's topology.yaml, out of the groups
    SlurmYaml,
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
        let text = match self.to {
            Target::SlurmConf => topology_conf(cluster.groups()?)?,
            Target::SlurmYaml => topology_yaml(cluster.groups()?)?,
            Target::Jgf => serde_json::to_string(&jgf(&cluster)?)? + "\n",
            Target::R => serde_json::to_string(&r(&cluster)?)? + "\n",
            Target::Dot => dot(cluster.fabric()?),
            Target::Tleaf => tleaf(&cluster)?,
        };
        output::print(&text)
    }
}
