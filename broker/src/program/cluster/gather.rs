//! `topobroker cluster gather`: a cluster out of what its nodes tell.

use super::above::Above;
use super::output_file::OutputFile;
use super::this_node::ThisNode;
use crate::cluster::gather::{Commands, Gathering, PmixExchange, in_rounds, read_folder, run_on};
use crate::cluster::{expand, fold};
use crate::program::output::say;
use anyhow::{Context, bail};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Gather the nodes of a cluster into one file: from a folder that they share, by a command for
/// each, or by PMIx. The exit status is 3 if nodes are missing
#[derive(Debug, Args)]
pub(super) struct Gather {
    #[command(flatten)]
    file: OutputFile,
    #[command(flatten)]
    way: Way,
    /// Names of the nodes that should be there, as hostlists such as node[001-276],login1
    #[arg(long, value_name = "HOSTLIST")]
    hosts: Vec<String>,
    /// How many commands run at once
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    at_once: usize,
    /// How many seconds a command may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    timeout: f64,
    /// How often a command that fails is tried again
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    retries: u32,
    #[command(flatten)]
    node: ThisNode,
    #[command(flatten)]
    above: Above,
    /// Exit with 0 even if nodes are missing
    #[arg(long)]
    allow_missing: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Way {
    /// A folder with what nodes have written with `cluster join`, or with XML or segments
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// A command of a shell for each of the hosts, {host}: "ssh {host} topobroker cluster report"
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    command: Option<String>,
    /// As one process a node, or more, below srun --mpi=pmix or mpirun; rank 0 writes the file
    #[arg(long)]
    pmix: bool,
}

impl Gather {
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        self.file.check()?;
        let mut hosts = Vec::new();
        for list in &self.hosts {
            hosts.extend(expand(list).with_context(|| format!("--hosts {list}"))?);
        }
        let mut failures = Vec::new();
        let gathering = if let Some(folder) = &self.way.folder {
            read_folder(folder)?
        } else if let Some(template) = &self.way.command {
            let (gathering, failed) = run_on(&hosts, &self.commands(template)?);
            failures = failed;
            gathering
        } else {
            match self.by_pmix()? {
                Some(gathering) => gathering,
                None => return Ok(ExitCode::SUCCESS),
            }
        };
        for (host, reason) in &failures {
            say(&format!("{host}: {reason}"));
        }
        let (mut cluster, missing) = gathering.finish(&hosts)?;
        self.above.add_to(&mut cluster)?;
        self.file.write(cluster)?;
        if missing.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        let names = fold(missing.iter().map(String::as_str));
        say(&format!("{} nodes are missing: {names}", missing.len()));
        Ok(if self.allow_missing { ExitCode::SUCCESS } else { ExitCode::from(3) })
    }

    fn commands(&self, template: &str) -> anyhow::Result<Commands> {
        if !template.contains("{host}") {
            bail!("--command {template}: has no {{host}}, so that it asks no host");
        }
        let time_out = Duration::try_from_secs_f64(self.timeout).context("--timeout")?;
        let (at_once, retries) = (self.at_once, self.retries);
        Ok(Commands { template: template.to_owned(), at_once, time_out, retries })
    }

    /// What all processes told; `None` for all but rank 0.
    fn by_pmix(&mut self) -> anyhow::Result<Option<Gathering>> {
        let mut pmix = PmixExchange::connect()?;
        let report = match pmix.local_rank()? {
            0 => {
                if self.node.name.is_none() {
                    self.node.name = Some(pmix.host()?);
                }
                Some(self.node.report()?)
            }
            _ => None,
        };
        let rank = pmix.rank();
        let gathering = in_rounds(report.as_ref(), usize::try_from(rank)?, &mut pmix)?;
        Ok((rank == 0).then_some(gathering))
    }
}
