//! `topobroker ps`: lists processes and threads that are bound, as `hwloc-ps` does, with their jobs
//! and ranks, and what is wrong with where they are.

mod misbound;
mod process;

pub(crate) use process::{RANK, launched_rank};

use crate::subject::{Subject, ensure_is_here};
use crate::{color, json, output};
use anyhow::ensure;
use clap::Args;
use misbound::{Misbound, ProcessOfJob, misbound};
use process::{Look, Process, ids, own_user};
use std::process::ExitCode;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::jobs::{Job, adopt_job};
use topobroker_reader::{FilePath, Object, Topology};

/// List the processes that are bound, where, and as which rank of which job, as hwloc-ps does
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Ps {
    #[command(flatten)]
    subject: Subject,
    /// Also list processes that are not bound
    #[arg(short, long)]
    all: bool,
    /// List this process only, bound or not
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// List processes whose name contains this, bound or not
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// List processes of this user, or of `all`; by default your own
    #[arg(long, value_name = "UID", value_parser = user)]
    uid: Option<User>,
    /// List the threads of processes that have several
    #[arg(short, long, visible_alias = "tid")]
    threads: bool,
    /// List the processes that run in the wrong place, and say why: a rank outside the PUs that it
    /// was given, two ranks on one core, memory on far NUMA nodes. Exit with 1 if there are any
    #[arg(long)]
    misbound: bool,
    /// Where processes ran last, and not where they may run; also those that are not bound
    #[arg(short = 'e', long, conflicts_with = "misbound")]
    get_last_cpu_location: bool,
    /// Print masks of PUs
    #[arg(short, long)]
    cpuset: bool,
    /// Print the lowest object that has all PUs
    #[arg(long, conflicts_with = "cpuset")]
    single_ancestor: bool,
    /// Print indexes of the operating system
    #[arg(short, long)]
    physical: bool,
    /// Print logical indexes (default)
    #[arg(short, long, conflicts_with = "physical")]
    logical: bool,
    /// Print the short names that the kernel knows
    #[arg(long)]
    short_name: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy)]
enum User {
    All,
    Only(u32),
}

fn user(text: &str) -> Result<User, String> {
    match text {
        "all" => Ok(User::All),
        id => id.parse().map(User::Only).map_err(|_| "expected a user id or all".to_owned()),
    }
}

impl Ps {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        self.subject.answer(None, |topology| {
            ensure_is_here(topology, "no process here runs on its PUs")?;
            self.list(topology)
        })
    }

    fn list(&self, topology: Topology<'_>) -> anyhow::Result<ExitCode> {
        let found = self.processes(topology)?;
        let why = match self.misbound {
            true => misbound(topology, &found),
            false => found.iter().map(|_| Vec::new()).collect(),
        };
        let mut all: Vec<(ProcessOfJob, Vec<Misbound>)> = found.into_iter().zip(why).collect();
        all.retain(|(_, why)| !self.misbound || !why.is_empty());
        let text = match self.json {
            true => json::text(
                &all.iter().map(|(it, why)| described(topology, it, why)).collect::<Vec<_>>(),
            )?,
            false => all.iter().map(|(it, why)| self.lines(topology, it, why)).collect(),
        };
        if !self.json && all.is_empty() {
            output::say(if self.misbound {
                "no process runs in the wrong place"
            } else {
                "no process is bound to a part of this topology; --all lists the others too"
            });
        }
        output::print(&text)?;
        let is_wrong = self.misbound && !all.is_empty();
        Ok(if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn processes(&self, topology: Topology<'_>) -> anyhow::Result<Vec<ProcessOfJob>> {
        let all_pus = topology.root().cpuset().unwrap_or_default();
        let user = match self.uid {
            None => Some(own_user()),
            Some(User::All) => None,
            Some(User::Only(user)) => Some(user),
        };
        let look = Look {
            all_pus: &all_pus,
            with_threads: self.threads,
            by_last_location: self.get_last_cpu_location,
            by_short_name: self.short_name,
            user: user.filter(|_| self.pid.is_none()),
        };
        let ids = self.pid.map_or_else(ids, |pid| Ok(vec![pid]))?;
        // A job that somebody removed, or of another topology, is none that this program knows.
        let base = self.subject.adopted();
        let is_named = |it: &Process| self.name.as_ref().is_none_or(|name| it.name.contains(name));
        let is_shown = |it: &Process| {
            self.all
                || self.get_last_cpu_location
                || self.misbound
                || self.pid.is_some()
                || self.name.is_some()
                || it.is_bound
                || it.threads.iter().any(|thread| thread.is_bound)
        };
        let found: Vec<Process> = ids.into_iter().filter_map(|id| look.process(id)).collect();
        ensure!(
            self.pid.is_none() || !found.is_empty(),
            "process {} is not here, or runs on no PU of this topology",
            self.pid.unwrap_or_default()
        );
        let found = found.into_iter().filter(|it| is_named(it) && is_shown(it));
        let job = |it: &Process| adopt_job(base?, FilePath::from(it.job.as_deref()?)).ok();
        let found = found.map(|it| {
            let job = job(&it);
            (it, job)
        });
        Ok(found.collect())
    }

    fn lines(&self, topology: Topology<'_>, member: &ProcessOfJob, why: &[Misbound]) -> String {
        let (process, job) = member;
        let mut text = format!(
            "{}\t{}\t\t{}",
            process.id,
            self.place(topology, &process.pus),
            output::in_line(&process.name)
        );
        if let Some(job) = job {
            text += &format!("\tjob {}", job.name());
        }
        if let Some(rank) = process.rank {
            text += &format!("{}rank {rank}", if job.is_some() { " " } else { "\t" });
        }
        text.push('\n');
        for thread in &process.threads {
            text += &format!(
                " {}\t{}\t\t{}\n",
                thread.id,
                self.place(topology, &thread.pus),
                output::in_line(&thread.name)
            );
        }
        why.iter().for_each(|why| text += &format!(" {}\n", color::wrong(&why.text)));
        text
    }

    /// PUs as the options ask for them.
    fn place(&self, topology: Topology<'_>, pus: &Set) -> String {
        if self.cpuset {
            return pus.to_text(Format::Hwloc);
        }
        let objects = match self.single_ancestor {
            true => topology.covering(pus).map(highest).into_iter().collect(),
            false => objects(topology, pus),
        };
        let name = |object: Object<'_>| {
            let index = match self.physical {
                true => object.os_index(),
                false => Some(object.logical_index()),
            };
            let index = index.map(|index| format!(":{index}")).unwrap_or_default();
            object.type_name(true) + &index
        };
        objects.into_iter().map(name).collect::<Vec<_>>().join(" ")
    }
}

/// The largest objects that have these PUs and no others. Caches with one child are left out for
/// it.
fn objects<'a>(topology: Topology<'a>, pus: &Set) -> Vec<Object<'a>> {
    let lower = |mut object: Object<'a>| {
        while object.object_type().is_cache() && object.children().len() == 1 {
            object = object.children().next().unwrap_or(object);
        }
        object
    };
    topology.inside(pus).largest().map(lower).collect()
}

/// The highest object that has the same PUs, below a cache.
fn highest(object: Object<'_>) -> Object<'_> {
    let mut highest = object;
    while let Some(parent) = highest.parent() {
        if parent.cpuset() != highest.cpuset() || parent.object_type().is_cache() {
            break;
        }
        highest = parent;
    }
    highest
}

fn described<'a>(
    topology: Topology<'_>,
    (process, job): &'a ProcessOfJob,
    why: &'a [Misbound],
) -> json::Process<'a> {
    let task = |it: &'a Process| json::Task {
        id: it.id,
        name: &it.name,
        bound: it.is_bound,
        cpuset: (&it.pus).into(),
        objects: objects(topology, &it.pus).into_iter().map(json::ShortObject::from).collect(),
    };
    json::Process {
        task: task(process),
        job: job.map(Job::name),
        rank: process.rank,
        threads: process.threads.iter().map(task).collect(),
        misbound: why.iter().map(|it| json::Misbound { kind: it.kind, text: &it.text }).collect(),
    }
}
