//! `topobroker job`: adds, lists, removes and shows jobs. A job has a part of the topology, and the
//! PUs of its ranks.

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

use crate::networks::{SiteNics, not_used, subnets_apart};
use crate::text_file::read_text;
use crate::{json, output, part};
use anyhow::{Context, ensure};
use clap::{Args, Subcommand, ValueEnum};
use exec::Exec;
use gpus::Gpus;
use groups::Groups;
use limits::{beyond_cgroup, beyond_quota};
use locality::Locality;
use named::JobName;
use nics::{Nics, warn};
use pe_list::PeList;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use topobroker::placement::{self, Policy, report};
use topobroker::publish::job::{self, DevicePolicy, JobOptions, Launcher};
use topobroker_layout::set::{Format, Set};
use topobroker_process::with_causes;
use topobroker_reader::{
    Adopted, Keys, Object, ObjectType, View,
    devices::NicChoice,
    jobs::{JobRank, cgroup_view},
};

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

/// Add a job, and print the environment line by which its processes find it
#[derive(Debug, Args)]
struct Add {
    /// Name of the job
    name: String,
    /// PUs of the job: a list of logical indexes such as 14,15,0,1, or P0:0-3;P1:*, or what --view
    /// of other commands takes, such as machine for all; by default what the cgroup of this process
    /// leaves
    #[arg(long, value_name = "PUS")]
    cpu_set: Option<String>,
    /// Read the ranks from this file: a line for each rank with the OS indexes of its PUs, such as
    /// "0 0-3", or with a hyphen if it is not bound: "0 -"
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ranks_here", "map_by", "bind_to"])]
    ranks: Option<PathBuf>,
    /// Number of ranks on this node; by default one for each object that they are mapped by
    #[arg(short = 'n', long = "np", value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    ranks_here: Option<u64>,
    /// Spread ranks over: slot, hwthread, core, l1cache, l2cache, l3cache, numa, package, gpu,
    /// PRRTE's device=gpu, device=network, device=block or device=NAME (:SHARED lets ranks share devices),
    /// ppr:N:OBJECT, cpu-list to take the PUs of --cpu-set in turn, or PRRTE's
    /// pe-list=0,2,4:ORDERED to take these cores; :PE=N gives each rank N
    /// cores, :OVERSUBSCRIBE allows more ranks than cores
    #[arg(long, value_name = "POLICY")]
    map_by: Option<String>,
    /// Bind ranks to: none, hwthread, core, l1cache, l2cache, l3cache, numa, package, gpu (the PUs
    /// near the rank's GPU); by default,
    /// as mpirun does, to the objects that they are mapped by, else one or two ranks to cores and
    /// more ranks to NUMA nodes
    #[arg(long, value_name = "OBJECT", requires = "map_by")]
    bind_to: Option<String>,
    /// Rank of the first process on this node; by default 0
    #[arg(long, value_name = "RANK", requires = "map_by")]
    first_rank: Option<u32>,
    /// NICs that each rank is given; 0 for none
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    nics_per_rank: u32,
    /// GPUs that each rank is given, 1 by default; 0 for none
    #[arg(long, value_name = "COUNT")]
    gpus_per_rank: Option<u32>,
    /// What the NICs of a rank are to be near: the PUs that it is bound to, or its first GPU
    #[arg(long, value_enum, default_value_t)]
    nics_near: NicsNear,
    /// Also give out NICs of which nobody knows whether they are active
    #[arg(long)]
    unknown_nics: bool,
    #[command(flatten)]
    site: SiteNics,
    /// Remove the job once this process is gone; by default it stays until it is removed
    #[arg(long, value_name = "PID")]
    launcher: Option<u32>,
    /// Let only this user read the job
    #[arg(long)]
    private: bool,
    /// Also publish the job's part for unmodified programs that use hwloc or PMIx
    #[arg(long)]
    legacy: bool,
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum NicsNear {
    /// Its PUs.
    #[default]
    Pus,
    /// Its first GPU.
    Gpu,
}

/// Stands for the PUs of a rank that is not bound.
const NOT_BOUND: &str = "-";

impl Job {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let base = topobroker_reader::adopt()?;
        // Removes the jobs of launchers that have died.
        if let Err(error) = job::sweep(base) {
            output::say(&with_causes(&error));
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

impl Add {
    fn run(self, base: &'static Adopted) -> anyhow::Result<ExitCode> {
        let pe_list = self.map_by.as_deref().map(PeList::parse).transpose()?.flatten();
        ensure!(
            pe_list.is_none() || (self.cpu_set.is_none() && self.bind_to.is_none()),
            "--map-by pe-list=LIST says what ranks are bound to: leave out --cpu-set and --bind-to"
        );
        let (option, cpu_set) = match &pe_list {
            Some(list) => ("--map-by", Some(&list.cpu_set)),
            None => ("--cpu-set", self.cpu_set.as_ref()),
        };
        let (view, order) = match cpu_set {
            // A file of ranks asks for what it names.
            None if self.ranks.is_some() => (View::whole(base.topology()), Vec::new()),
            None => (cgroup_view(base.topology())?, Vec::new()),
            Some(text) => {
                let chosen = part::chosen(base.topology(), text).context(option)?;
                (chosen.view(base.topology())?, chosen.order)
            }
        };
        let launcher = self.launcher.map_or(Launcher::Nobody, Launcher::Process);
        let ranks = match pe_list {
            Some(list) => self.numbered(list.ranks(&order, self.count())?)?,
            None => self.ranks(&view, &order)?,
        };
        let name = self.name.clone();
        let (private, legacy) = (self.private, self.legacy);
        ensure!(
            self.nics_near == NicsNear::Pus || self.gpus_per_rank != Some(0),
            "--nics-near gpu: ranks have no GPUs with --gpus-per-rank 0"
        );
        let (wanted, gpus) = (self.gpus_per_rank.unwrap_or(0), base.topology().gpus().count());
        ensure!(
            usize::try_from(wanted).is_ok_and(|wanted| wanted <= gpus),
            "--gpus-per-rank {wanted}: the node has {gpus}; `topobroker devices --gpu` lists them"
        );
        let devices = self.devices()?;
        let networks = devices.site.networks(base.topology(), devices.nics);
        let networks = if devices.nics_per_rank > 0 { networks } else { Vec::new() };
        let notes = [
            beyond_cgroup(&view)?,
            beyond_quota(ranks.len())?,
            not_used(&networks),
            networks.first().and_then(subnets_apart),
        ];
        let options = JobOptions { name, ranks, launcher, private, legacy, devices };
        let job = job::add(base, &view, &options)?;
        let told = output::hand_over(&Keys::lines(job.to_env()));
        let told = told.or_else(|error| {
            // Nobody knows of this job, so nobody would remove it.
            job::remove(base, &self.name)?;
            Err(error.context("the job is not added"))
        })?;
        // The job is added, whatever comes now.
        for note in notes.into_iter().flatten() {
            output::say(&format!("job {}: {note}", self.name));
        }
        if let Ok(job) = named(base, &self.name) {
            warn(base, job);
        }
        Ok(told)
    }

    fn devices(&self) -> anyhow::Result<DevicePolicy> {
        Ok(DevicePolicy {
            site: self.site.filter()?,
            nics_per_rank: self.nics_per_rank,
            gpus_per_rank: self.gpus_per_rank.unwrap_or(1),
            nics: NicChoice::new(self.unknown_nics),
            nics_near_gpu: self.nics_near == NicsNear::Gpu,
        })
    }

    fn ranks(
        &self,
        view: &View<'_>,
        order: &[Object<'_>],
    ) -> anyhow::Result<Vec<(u32, Option<Set>)>> {
        if let Some(file) = &self.ranks {
            return read_text(file, MOST_TEXT, read_ranks);
        }
        let Some(map_by) = &self.map_by else {
            ensure!(
                self.ranks_here.is_none(),
                "--np is how many ranks there are, but not where: add --map-by, such as --map-by core"
            );
            return Ok(Vec::new());
        };
        let policy = Policy::parse(map_by, self.bind_to.as_deref())?;
        let topology = view.topology();
        let all: Vec<Object<'_>> = match order.is_empty() {
            true => topology.objects_with_type(ObjectType::PU).collect(),
            false => order.to_vec(),
        };
        let sets = placement::place(topology, &policy, self.count(), &all)?;
        ensure!(
            !sets.is_empty(),
            "--map-by {map_by}: there is no place for a rank of so many CPUs"
        );
        self.numbered(sets)
    }

    /// Number of ranks on this node, if it was given.
    fn count(&self) -> Option<usize> {
        self.ranks_here.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Ranks from the first one of this node.
    fn numbered(&self, sets: Vec<Option<Set>>) -> anyhow::Result<Vec<(u32, Option<Set>)>> {
        let first = self.first_rank.unwrap_or(0);
        let last = u32::try_from(sets.len()).ok().and_then(|count| first.checked_add(count));
        let last = last.with_context(|| format!("--first-rank {first}: ranks are below 2^32"))?;
        Ok((first..last).zip(sets).collect())
    }
}

/// Limit of the size of a file of ranks in bytes: some hundred times the size for the ranks of a
/// node.
const MOST_TEXT: u64 = 1 << 26;

/// Parses lines with a rank and the OS indexes of its PUs.
fn read_ranks(text: &str) -> anyhow::Result<Vec<(u32, Option<Set>)>> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let mut ranks: Vec<(u32, Option<Set>)> = Vec::new();
    for (line, place) in lines {
        let (rank, list) = line.trim().split_once([' ', '\t']).with_context(|| {
            format!("line {place} is {line:?}; expected a rank and a list of OS indexes")
        })?;
        let rank: u32 = rank.parse().with_context(|| format!("line {place}: rank {rank:?}"))?;
        let set = match list.trim() {
            NOT_BOUND => None,
            list => Some(Set::parse(list, Format::List).with_context(|| format!("line {place}"))?),
        };
        ranks.push((rank, set));
    }
    ensure!(!ranks.is_empty(), "names no ranks; expected a line for each, such as \"0 0-3\"");
    Ok(ranks)
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
