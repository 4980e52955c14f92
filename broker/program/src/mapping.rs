//! Options that say how the ranks of a job are mapped, bound and numbered.

use crate::text_file::read_text;
use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use std::path::Path;
use topobroker::placement::{ListError, MapBy, Policy, RankList, Rules};

#[derive(Debug, Args)]
pub(crate) struct Mapping {
    /// Bind ranks to: none, hwthread, core, l1cache, l2cache, l3cache, numa, package, gpu (the PUs
    /// near the rank's GPU), user:0,2+3 (OS indexes for each rank, as hydra's); by default to the
    /// objects that they are mapped by; if they are mapped by none, one or two ranks to cores, more
    /// to NUMA nodes
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

/// Limit of the size of a file of ranks in bytes: some hundred times the size for the ranks of a
/// node.
pub(crate) const MOST_TEXT: u64 = 1 << 26;

/// The entries of hydra's `user:0,2+3`.
const HYDRA: &str = "user:";

impl Mapping {
    /// The ranks that a file or a list names one by one, and how they are bound; `None` if ranks
    /// are mapped otherwise.
    pub(crate) fn listed(
        &self,
        map_by: Option<&str>,
        count: Option<usize>,
    ) -> anyhow::Result<Option<(RankList, Policy)>> {
        if let Some(list) = self.bind_to.as_deref().and_then(|bind| bind.strip_prefix(HYDRA)) {
            ensure!(
                map_by.is_none() && self.rank_by.is_none() && self.like == Launcher::default(),
                "--bind-to {HYDRA}{list} names the PUs of each rank: leave out --map-by, \
                 --rank-by and --as"
            );
            let list =
                RankList::hydra(list, count).with_context(|| format!("--bind-to {HYDRA}{list}"))?;
            return Ok(Some((list, Policy::parse("slot", None)?)));
        }
        let Some(map_by) = map_by else { return Ok(None) };
        let (name, rest) = map_by.split_once(':').unwrap_or((map_by, ""));
        let read: fn(&str) -> Result<RankList, ListError> = match name.to_ascii_lowercase().as_str()
        {
            "rankfile" => RankList::rankfile,
            "seq" => RankList::sequence,
            "lsf" => RankList::lsf,
            _ => return Ok(None),
        };
        ensure!(
            self.rank_by.is_none() && self.like != Launcher::Mpirun4,
            "--map-by {name} numbers and binds the ranks as PRRTE does: leave out --rank-by and \
             --as mpirun4"
        );
        // A path may have colons; what follows it may be modifiers.
        let mut file = rest;
        while let Some((before, _)) = file.rsplit_once(':').filter(|(_, it)| is_modifier(it)) {
            file = before;
        }
        let modifiers = rest.get(file.len()..).unwrap_or_default();
        let is_file = |it: &&str| it.eq_ignore_ascii_case("file=");
        let file = match file.get(.."file=".len()).filter(is_file) {
            Some(key) => file.get(key.len()..).unwrap_or_default().to_owned(),
            None if name.eq_ignore_ascii_case("lsf") && file.is_empty() => {
                let file = std::env::var(LSF_FILE);
                file.with_context(|| {
                    format!(
                        "--map-by lsf: {LSF_FILE} names no file; expected one, or lsf:file=FILE"
                    )
                })?
            }
            None => anyhow::bail!("--map-by {map_by}: names no file; expected {name}:file=FILE"),
        };
        let list = read_text(Path::new(&file), MOST_TEXT, read).context("--map-by")?;
        Ok(Some((list, self.policy(&format!("slot{modifiers}"))?)))
    }

    /// Whether it says anything.
    pub(crate) fn is_given(&self) -> bool {
        self.bind_to.is_some() || self.rank_by.is_some() || self.like != Launcher::default()
    }

    /// Whether it may be given with `pe-list`: PRRTE takes bindings to cores or hardware threads
    /// there, which change nothing.
    pub(crate) fn fits_pe_list(&self) -> bool {
        let is_cpu = |it: &str| ["core", "hwthread"].iter().any(|cpu| it.eq_ignore_ascii_case(cpu));
        let others = self.rank_by.is_some() || self.like != Launcher::default();
        self.bind_to.as_deref().is_none_or(is_cpu) && !others
    }

    /// The policy with a mapping.
    pub(crate) fn policy(&self, map_by: &str) -> anyhow::Result<Policy> {
        let policy = Policy::parse(map_by, self.bind_to.as_deref())?;
        let policy = match &self.rank_by {
            Some(order) => {
                ensure!(
                    self.like != Launcher::Mpirun4 && policy.map != MapBy::CpuList,
                    "--rank-by {order}: ranks are numbered as they are mapped with --as mpirun4 \
                     and --map-by cpu-list"
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

/// The variable by which LSF names its affinity file.
const LSF_FILE: &str = "LSB_AFFINITY_HOSTFILE";

/// Modifiers of a mapping that names a file.
fn is_modifier(word: &str) -> bool {
    let all = ["hwtcpus", "corecpus", "oversubscribe", "nooversubscribe"];
    all.into_iter().any(|it| word.eq_ignore_ascii_case(it))
}
