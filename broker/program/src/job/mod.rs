//! `topobroker job`: adds, lists, removes and shows jobs. A job has a part of the topology, and the
//! PUs of its ranks.

mod add;
mod exec;
mod gpus;
mod groups;
mod limits;
mod locality;
mod named;
mod nics;
mod pe_list;

pub(super) use named::{cpuset_of_rank, named};
pub(super) use nics::findings_of;

use crate::{json, output};
use add::Add;
use clap::{Args, Subcommand, ValueEnum};
use exec::Exec;
use gpus::Gpus;
use groups::Groups;
use locality::Locality;
use named::JobName;
use nics::{Nics, warn};
use std::fmt::Write;
use std::process::ExitCode;
use topobroker::placement::report;
use topobroker::publish::job;
use topobroker_layout::set::Format;
use topobroker_process::with_causes;
use topobroker_reader::{Adopted, jobs::JobRank};

/// Add, list and remove jobs over the adopted topology, or show their binding
#[derive(Debug, Args)]
pub(super) struct Job {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Add(Add),
    List(List),
    Remove(Remove),
    Show(Show),
    Locality(Locality),
    Nics(Nics),
    Gpus(Gpus),
    Groups(Groups),
    Exec(Exec),
}

/// List the jobs over the adopted topology
#[derive(Debug, Args)]
struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Remove jobs; processes that have adopted them keep them
#[derive(Debug, Args)]
struct Remove {
    /// Names of the jobs
    #[arg(required = true)]
    names: Vec<String>,
}

/// Print what the ranks of a job are bound to
#[derive(Debug, Args)]
struct Show {
    #[command(flatten)]
    job: JobName,
    /// Format of the output: that of a launcher, or that of --ranks
    #[arg(long, value_enum, default_value_t)]
    style: Style,
    /// Print JSON
    #[arg(long, conflicts_with = "style")]
    json: bool,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Style {
    /// As Open MPI 4: rank 0 bound to socket 0[core 0[hwt 0]]: [B./..][../..]
    #[default]
    OpenMpi,
    /// As PRRTE: Rank 0 bound to package[0][core:L0]
    Prrte,
    /// OS indexes: 0 0-3, as --ranks takes them
    Ranks,
}

/// Stands for the PUs of a rank that is not bound.
const NOT_BOUND: &str = "-";

impl Job {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let base = topobroker_reader::adopt()?;
        // Removes the jobs of launchers that have died.
        if let Err(error) = job::sweep(base) {
            output::complain(&with_causes(&error));
        }
        match self.command {
            Command::Add(add) => add.run(base),
            Command::List(list) => list.run(base),
            Command::Remove(remove) => {
                // Removes every job that exists before it reports the first error.
                let removed = remove.names.iter().map(|name| job::remove(base, name));
                removed.fold(Ok(()), Result::and)?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Show(show) => show.run(base),
            Command::Locality(locality) => locality.run(base),
            Command::Nics(nics) => nics.run(base),
            Command::Gpus(gpus) => gpus.run(base),
            Command::Groups(groups) => groups.run(base),
            Command::Exec(exec) => exec.run(base),
        }
    }
}

impl List {
    fn run(&self, base: &Adopted) -> anyhow::Result<ExitCode> {
        let jobs = job::list(base)?;
        if self.json {
            let jobs = jobs.iter().map(|job| json::Job {
                name: &job.name,
                file: job.file.display().to_string(),
                size: job.size,
                ranks: job.contents.as_ref().ok().map(|(_, ranks)| *ranks),
                launcher: job.contents.as_ref().ok().map(|(header, _)| header.publisher_pid),
                error: job.contents.as_ref().err().map(ToString::to_string),
            });
            return output::print(&json::text(&jobs.collect::<Vec<_>>())?);
        }
        let mut text = String::new();
        for job in &jobs {
            // Writing to a string cannot fail.
            let _ = match &job.contents {
                Ok((header, ranks)) => {
                    let launcher = match header.publisher_pid {
                        0 => "-".to_owned(),
                        pid => pid.to_string(),
                    };
                    let (name, size) = (&job.name, job.size);
                    writeln!(text, "{name}: {ranks} ranks, {size} bytes, launcher {launcher}")
                }
                Err(error) => writeln!(text, "{}: {}", job.name, with_causes(error)),
            };
        }
        output::print(&text)
    }
}

impl Show {
    fn run(&self, base: &'static Adopted) -> anyhow::Result<ExitCode> {
        let job = self.job.adopt(base)?;
        if self.json {
            let rank = |it: JobRank| {
                let objects = it.cpuset.as_ref().map(|set| base.topology().inside(set).largest());
                json::RankOfJob {
                    rank: it.rank,
                    cpuset: it.cpuset.as_ref().map(json::Set::from),
                    objects: objects.into_iter().flatten().map(json::ShortObject::from).collect(),
                }
            };
            return output::print(&json::text(&job.ranks().map(rank).collect::<Vec<_>>())?);
        }
        // Launchers draw the whole machine, not only the job's part.
        let topology = base.topology();
        let all = topology.root().cpuset().unwrap_or_default();
        let lines = job.ranks().map(|JobRank { rank, cpuset, .. }| match self.style {
            Style::OpenMpi => report::open_mpi(topology, rank, cpuset.as_ref().unwrap_or(&all)),
            Style::Prrte => report::prrte(topology, rank, cpuset.as_ref().unwrap_or(&all)),
            Style::Ranks => {
                let list = cpuset.map_or(NOT_BOUND.to_owned(), |set| set.to_text(Format::List));
                format!("{rank} {list}")
            }
        });
        output::print(&lines.map(|line| line + "\n").collect::<String>())?;
        warn(base, job);
        Ok(ExitCode::SUCCESS)
    }
}
