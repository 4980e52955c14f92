//! `topobroker job exec`: runs a command as a rank of a job.

use super::named::JobName;
use crate::bind::exec_as_rank;
use crate::ps::launched_rank;
use anyhow::Context;
use clap::Args;
use std::ffi::OsString;
use std::process::ExitCode;
use topobroker_reader::Adopted;

/// Run a command as a rank of a job: bound as the rank, with its keys and the variables of its NICs
/// and GPUs
#[derive(Debug, Args)]
pub(super) struct Exec {
    #[command(flatten)]
    job: JobName,
    /// The rank; by default the one that mpirun, mpiexec or srun has given this process
    #[arg(long, value_name = "RANK", required = launched_rank().is_none())]
    rank: Option<u32>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Exec {
    pub(super) fn run(&self, base: &'static Adopted) -> anyhow::Result<ExitCode> {
        let rank = self.rank.or_else(launched_rank);
        let rank = rank.context("no launcher has given this process a rank: add --rank RANK")?;
        exec_as_rank(base, self.job.adopt(base)?, rank, &self.command)
    }
}
