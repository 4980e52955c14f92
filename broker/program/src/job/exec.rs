//! `topobroker job exec`: runs a command as a rank of a job.

use super::named::JobName;
use crate::bind::exec_as_rank;
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
    /// The rank
    #[arg(long, value_name = "RANK")]
    rank: u32,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Exec {
    pub(super) fn run(&self, base: &'static Adopted) -> anyhow::Result<ExitCode> {
        exec_as_rank(base, self.job.adopt(base)?, self.rank, &self.command)
    }
}
