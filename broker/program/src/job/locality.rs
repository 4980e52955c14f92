//! `topobroker job locality`: what the ranks of a job share.

use super::named::{JobName, not_here};
use crate::{json, output};
use anyhow::Context;
use clap::Args;
use std::process::ExitCode;
use topobroker_reader::{
    Adopted, Locality as Shared,
    jobs::{Job, JobRank},
};

/// Print which objects the ranks of a job share: the locality string of each rank, or what each two
/// ranks share
#[derive(Debug, Args)]
pub(super) struct Locality {
    #[command(flatten)]
    job: JobName,
    /// What this rank shares with each rank
    #[arg(long, value_name = "RANK")]
    rank: Option<u32>,
    #[command(flatten)]
    encoding: Encoding,
    /// Print JSON, with all encodings
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
struct Encoding {
    /// Print PMIx's bits: 0x4070
    #[arg(long)]
    pmix: bool,
    /// Print Open MPI's bits: 0x7f
    #[arg(long)]
    opal: bool,
    /// In names: core,L2,package,NUMA,node
    #[arg(long)]
    names: bool,
}

impl Locality {
    pub(super) fn run(&self, base: &'static Adopted) -> anyhow::Result<ExitCode> {
        let job = self.job.adopt(base)?;
        if let Some(rank) = self.rank {
            job.rank(rank).with_context(|| not_here(job, rank))?;
        }
        let asked = |it: &JobRank| self.rank.is_none_or(|rank| it.rank == rank);
        let ranks = job.ranks().filter(asked);
        if self.json {
            let all: Vec<_> = ranks.map(|rank| described(job, &rank)).collect();
            return output::print(&json::text(&all)?);
        }
        let Encoding { pmix, opal, names } = self.encoding;
        let text: String = match self.rank {
            Some(rank) => {
                let peers = job.ranks().zip(shared(job, rank));
                peers.map(|(it, shared)| format!("{} {}\n", it.rank, self.encode(shared))).collect()
            }
            None if pmix || opal || names => {
                let line = |it: JobRank| {
                    let cells: Vec<String> =
                        shared(job, it.rank).map(|it| self.encode(it)).collect();
                    format!("{} {}\n", it.rank, cells.join(" "))
                };
                ranks.map(line).collect()
            }
            None => {
                let string = |it: &JobRank| string_of(job, it).unwrap_or("-".to_owned());
                ranks.map(|it| format!("{} {}\n", it.rank, string(&it))).collect()
            }
        };
        output::print(&text)
    }

    fn encode(&self, shared: Shared) -> String {
        match self.encoding {
            Encoding { pmix: true, .. } => format!("{:#x}", shared.bits()),
            Encoding { opal: true, .. } => format!("{:#x}", shared.to_opal()),
            _ => shared.to_string(),
        }
    }
}

/// What a rank shares with each rank.
fn shared(job: Job<'_>, rank: u32) -> impl Iterator<Item = Shared> {
    job.localities(rank).into_iter().flatten()
}

/// The locality string of a rank in the job's part of the topology; `None` if it is not bound.
fn string_of(job: Job<'_>, rank: &JobRank) -> Option<String> {
    job.view().topology().locality_string(rank.cpuset.as_ref()?)
}

fn described(job: Job<'_>, rank: &JobRank) -> json::RankLocality {
    let peer = |(it, shared): (JobRank, Shared)| json::Peer {
        rank: it.rank,
        pmix: shared.bits(),
        opal: shared.to_opal(),
        names: shared.to_string().split(',').map(str::to_owned).collect(),
    };
    json::RankLocality {
        rank: rank.rank,
        bound: rank.cpuset.is_some(),
        string: string_of(job, rank),
        peers: job.ranks().zip(shared(job, rank.rank)).map(peer).collect(),
    }
}
