//! Options that say how the ranks of a job are mapped, bound and numbered.

use anyhow::ensure;
use clap::{Args, ValueEnum};
use topobroker::placement::{MapBy, Policy, Rules};

#[derive(Debug, Args)]
pub(crate) struct Mapping {
    /// Bind ranks to: none, hwthread, core, l1cache, l2cache, l3cache, numa, package, gpu (the PUs
    /// near the rank's GPU); by default to the objects that they are mapped by, one or two others to
    /// cores, and more ranks to NUMA nodes
    #[arg(long, value_name = "OBJECT")]
    bind_to: Option<String>,
    /// Number ranks by: slot, node, fill (one object after the other), span (objects in turn)
    #[arg(long, value_name = "ORDER")]
    rank_by: Option<String>,
    /// Map, bind and number ranks as this launcher does
    #[arg(long = "as", value_name = "LAUNCHER", value_enum, default_value_t)]
    like: Launcher,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Launcher {
    /// PRRTE 5, of Open MPI 6
    #[default]
    Prrte5,
    /// PRRTE 3, of Open MPI 5
    Prrte3,
    /// mpirun of Open MPI 4
    Mpirun4,
}

impl Mapping {
    /// Whether it says anything.
    pub(crate) fn is_given(&self) -> bool {
        self.bind_to.is_some() || self.rank_by.is_some() || self.like != Launcher::default()
    }

    /// The policy with a mapping.
    pub(crate) fn policy(&self, map_by: &str) -> anyhow::Result<Policy> {
        let policy = Policy::parse(map_by, self.bind_to.as_deref())?;
        let policy = match &self.rank_by {
            Some(order) => {
                ensure!(
                    self.like != Launcher::Mpirun4 && policy.map != MapBy::CpuList,
                    "--rank-by {order}: ranks are numbered as they are mapped with --as mpirun4 and --map-by cpu-list"
                );
                policy.ranked_by(order)?
            }
            None => policy,
        };
        let rules = match self.like {
            Launcher::Prrte5 => Rules::Prrte5,
            Launcher::Prrte3 => Rules::Prrte3,
            Launcher::Mpirun4 => Rules::Mpirun4,
        };
        Ok(Policy { rules, ..policy })
    }
}
