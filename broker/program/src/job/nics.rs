//! `topobroker job nics`: the NICs of the ranks of a job.

use super::named::{JobName, asked, environment_lines, named};
use crate::{json, output};
use anyhow::ensure;
use clap::{Args, ValueEnum};
use std::process::ExitCode;
use topobroker::findings::{self, Finding, FindingKind};
use topobroker::nics::{self, NicRank, Rule};
use topobroker_reader::devices::{
    NicChoice,
    environment::{Library, of_nics},
};
use topobroker_reader::{Adopted, Object, jobs::Job};

/// Print the NICs of the ranks of a job, or the environment lines by which libraries use them
#[derive(Debug, Args)]
pub(super) struct Nics {
    #[command(flatten)]
    job: JobName,
    /// Only of this rank; with --env, leave the rank out of the lines
    #[arg(long, value_name = "RANK")]
    rank: Option<u32>,
    /// Print the environment variables of this library
    #[arg(long, value_enum, value_name = "LIBRARY")]
    env: Option<Env>,
    /// Choose NICs as this library does, and not as the job has them
    #[arg(long, value_enum, value_name = "LIBRARY")]
    mode: Option<Mode>,
    /// With --mode: also NICs whose state is unknown
    #[arg(long, requires = "mode")]
    unknown_nics: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "env")]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Env {
    /// UCX_NET_DEVICES
    Ucx,
    /// NCCL_IB_HCA or NCCL_SOCKET_IFNAME
    Nccl,
    /// MPIR_CVAR_CH4_OFI_PREF_NIC, of MPICH 4.3 and later
    Mpich,
    /// FI_VERBS_DEVICE_NAME, FI_CXI_DEVICE_NAME, FI_EFA_IFACE or FI_TCP_IFACE, also for earlier
    /// MPICH
    Libfabric,
    /// OMPI_MCA_btl_openib_if_include of Open MPI 4
    Openmpi,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    /// Open MPI 5.0.11
    Openmpi,
    /// MPICH up to 5.0
    Mpich,
    /// NCCL up to 2.30.4
    Nccl,
}

impl Nics {
    pub(super) fn run(&self, base: &'static Adopted) -> anyhow::Result<ExitCode> {
        let job = self.job.adopt(base)?;
        let choice = NicChoice::new(self.unknown_nics);
        let all: Vec<Object<'_>> = base.topology().nics(choice).collect();
        let of_ranks = self.of_ranks(base, job, &all);
        let ranks = asked(job, self.rank)?;
        let asked = of_ranks.iter().filter(|(rank, _)| ranks.binary_search(rank).is_ok());
        if self.rank.is_none() && self.env.is_none() && !self.json {
            warn(base, job);
        }
        if self.json {
            let of = |(rank, nics): &(u32, Vec<Object<'static>>)| json::NicsOfRank {
                rank: *rank,
                nics: nics.iter().map(|it| it.device_name()).collect(),
                gpus: job.gpus(*rank).map(Object::device_name).collect(),
            };
            let all: Vec<_> = asked.map(of).collect();
            return output::print(&json::text(&all)?);
        }
        // What the ranks were given may be of unknown state, and is among what a library finds.
        let is_known = |nic: &Object<'_>| all.contains(nic);
        let all = match of_ranks.iter().flat_map(|(_, nics)| nics).all(is_known) {
            true => all,
            false => base.topology().nics(NicChoice::ActiveOrUnknown).collect(),
        };
        let lines = asked.map(|(rank, nics)| self.lines(*rank, nics, &all));
        output::print(&lines.collect::<anyhow::Result<String>>()?)
    }

    /// The NICs of each rank.
    fn of_ranks<'a>(
        &self,
        base: &'a Adopted,
        job: Job<'a>,
        all: &[Object<'a>],
    ) -> Vec<(u32, Vec<Object<'a>>)> {
        let rule = match self.mode {
            None => return job.ranks().map(|it| (it.rank, job.nics(it.rank).collect())).collect(),
            Some(Mode::Openmpi) => Rule::OpenMpi,
            Some(Mode::Mpich) => Rule::Mpich,
            Some(Mode::Nccl) => Rule::Nccl,
        };
        let ranks: Vec<NicRank<'a>> = job
            .ranks()
            .map(|it| NicRank { rank: it.rank, cpuset: it.cpuset, gpu: job.gpus(it.rank).next() })
            .collect();
        let chosen = nics::chosen(rule, base.topology(), all, &ranks);
        ranks.iter().zip(chosen).map(|(it, nic)| (it.rank, nic.into_iter().collect())).collect()
    }

    fn lines(&self, rank: u32, nics: &[Object<'_>], all: &[Object<'_>]) -> anyhow::Result<String> {
        let names: Vec<&str> = nics.iter().filter_map(|nic| nic.name()).collect();
        let names = if names.is_empty() { "-".to_owned() } else { names.join(",") };
        let library = match self.env {
            None => return Ok(format!("{rank} {names}\n")),
            Some(Env::Ucx) => Library::Ucx,
            Some(Env::Nccl) => Library::Nccl,
            Some(Env::Mpich) => Library::Mpich,
            Some(Env::Libfabric) => Library::Libfabric,
            Some(Env::Openmpi) => Library::OpenMpi,
        };
        let variables = of_nics(library, nics, all);
        ensure!(
            !variables.is_empty() || nics.is_empty(),
            "rank {rank}: the library has no variable that makes it use {names}"
        );
        Ok(environment_lines(rank, self.rank.is_some(), &variables))
    }
}

/// Says on standard error what is wrong with where the ranks of a job are bound.
pub(super) fn warn(base: &Adopted, job: Job<'_>) {
    warn_but(base, job, None);
}

/// [`warn`] without findings of a kind.
pub(super) fn warn_but(base: &Adopted, job: Job<'_>, without: Option<FindingKind>) {
    let findings = findings::binding(base.topology(), job).into_iter();
    for finding in findings.filter(|it| Some(it.kind) != without) {
        output::say(&format!("job {}: {finding}", job.name()));
    }
}

/// What is wrong with where the ranks of a job over the adopted topology are bound.
pub(crate) fn findings_of(name: &str) -> anyhow::Result<Vec<Finding>> {
    let base = topobroker_reader::adopt()?;
    let job = named(base, name)?;
    Ok(findings::binding(base.topology(), job))
}
