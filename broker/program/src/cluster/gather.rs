//! `topobroker cluster gather`: a cluster made of the reports of its nodes.

use super::above::Above;
use super::found_files::FoundFiles;
use super::output_file::OutputFile;
use super::this_node::ThisNode;
use crate::output::{complain, whole_message};
use crate::progress::Progress;
use crate::signals::Signals;
use anyhow::{Context, bail};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;
use topobroker_cluster::gather::{
    Commands, Contribution, Gathered, Gathering, PmixExchange, in_rounds, node_of_host,
    read_folder, run_on,
};
use topobroker_cluster::{expand, files_in, fold};

/// Gather the nodes of a cluster into one file: from a folder that they share, by a command for
/// each, or by PMIx. The exit status is 3 if nodes are missing, or if one could not be used
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
    found: FoundFiles,
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
    /// Gather through PMIx: run one process or more on each node, under srun --mpi=pmix or mpirun;
    /// rank 0 writes the file
    #[arg(long)]
    pmix: bool,
}

impl Gather {
    pub(super) fn run(mut self) -> anyhow::Result<ExitCode> {
        // What is wrong here would be lost work later.
        let above = self.above.read()?;
        let mut hosts = Vec::new();
        for list in &self.hosts {
            hosts.extend(expand(list).with_context(|| format!("--hosts {list}"))?);
        }
        let gathering = if let Some(folder) = &self.way.folder {
            self.file.check()?;
            let files = files_in(folder)?;
            self.file.check_inputs(above.files().chain(files.iter().map(PathBuf::as_path)))?;
            read_folder(folder, self.found.owners())?
        } else if let Some(template) = &self.way.command {
            self.file.check()?;
            self.file.check_inputs(above.files())?;
            let interrupted = Signals::flag().context("catching signals")?;
            let progress = Progress::of("nodes are asked", hosts.len());
            let commands = self.commands(template)?;
            let gathering = run_on(&hosts, &commands, &interrupted, progress.done());
            drop(progress);
            if interrupted.load(Ordering::Relaxed) {
                bail!("interrupted: nothing is written");
            }
            gathering
        } else {
            match by_pmix(&mut self.node)? {
                Some(gathering) => {
                    // Only this process writes the file.
                    self.file.check()?;
                    gathering
                }
                None => return Ok(ExitCode::SUCCESS),
            }
        };
        let expected: Vec<String> =
            hosts.iter().map(|host| node_of_host(host).to_owned()).collect();
        let Gathered { mut cluster, missing, failures } = gathering.finish(&expected);
        for failure in &failures {
            complain(&failure.what);
        }
        above.add_to(&mut cluster)?;
        self.file.write(cluster)?;
        if !missing.is_empty() {
            let names = fold(missing.iter().map(String::as_str));
            let are = if missing.len() == 1 { "node is" } else { "nodes are" };
            complain(&format!("{} {are} missing: {names}", missing.len()));
        }
        let is_whole = missing.is_empty() && failures.is_empty();
        Ok(if is_whole || self.allow_missing { ExitCode::SUCCESS } else { ExitCode::from(3) })
    }

    fn commands(&self, template: &str) -> anyhow::Result<Commands> {
        if !template.contains("{host}") {
            bail!("--command {template}: has no {{host}}, so that it asks no host");
        }
        let time_out = Duration::try_from_secs_f64(self.timeout).context("--timeout")?;
        let (at_once, retries) = (self.at_once, self.retries);
        Ok(Commands { template: template.to_owned(), at_once, time_out, retries })
    }
}

/// What all processes reported; `None` for all but rank 0.
fn by_pmix(node: &mut ThisNode) -> anyhow::Result<Option<Gathering>> {
    let mut pmix = PmixExchange::connect()?;
    let contribution = match pmix.local_rank()? {
        0 => {
            if node.name.is_none() {
                node.name = Some(pmix.host()?);
            }
            // A process that ended here would keep all others waiting.
            match node.report() {
                Ok(report) => Contribution::Report(report),
                Err(error) => {
                    let (name, reason) = (node.name(), whole_message(&error));
                    Contribution::Failure { name, reason }
                }
            }
        }
        _ => Contribution::Nothing,
    };
    let rank = usize::try_from(pmix.rank())?;
    Ok(in_rounds(contribution, rank, &mut pmix)?)
}
