//! `topobroker scope`: prints what the adopted topology describes, and this process's part of it.

use super::input::{Held, Input};
use super::subject::ensure_is_here;
use super::{json, output};
use clap::Args;
use std::process::ExitCode;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::Scope as Described;
use topobroker_reader::jobs::{Cgroup, CpuQuota, Job, Situation};

/// Print which part of the topology is this process's own, and why
#[derive(Debug, Args)]
pub(super) struct Scope {
    #[command(flatten)]
    input: Input,
    /// Use what is published to this process or by the daemon, or fail
    #[arg(long, conflicts_with = "input")]
    adopted: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Scope {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let held = self.input.topology(None, self.adopted)?;
        let (published, job) = match &held {
            Held::Adopted(adopted) => (adopted.header().scope, Job::find(adopted)?),
            Held::Own(..) => (Described::Machine, None),
        };
        let archive = held.archive()?;
        if matches!(held, Held::Own(..)) {
            ensure_is_here(archive.topology(), "no part of it is this process's")?;
        }
        let situation = Situation::with_topology(archive.topology(), published)?;
        let decision = situation.decide();
        let quota = CpuQuota::of_this_process()?;
        let note = match situation.is_elsewhere() {
            true => Some(elsewhere(&situation)),
            false => Cgroup::is_hidden()?.then(|| HIDDEN.to_owned()),
        };
        let of_job = job.map(|job| job.view().topology().root().cpuset().unwrap_or_default());
        if self.json {
            return output::print(&json::text(&json::Scope {
                launch: situation.launch.name(),
                published: situation.published.name(),
                pus: (&situation.pus).into(),
                cpu_list: situation.cpu_list.as_ref().map(json::Set::from),
                affinity: (&situation.affinity).into(),
                cgroup: situation.cgroup.as_ref().map(json::Set::from),
                quota: quota.as_ref().map(json::CpuQuota::from),
                job: job.map(Job::name),
                part: of_job.map(json::Set::from),
                decision: job.is_none().then(|| decision.to_string()),
                note,
            })?);
        }
        let list = |set: &Set| set.to_text(Format::List);
        let or_none = |set: &Option<Set>| set.as_ref().map_or("none".to_owned(), list);
        let part = match (job, of_job) {
            (Some(job), Some(pus)) => format!("PUs {}: it is of job {}", list(&pus), job.name()),
            _ => decision.to_string(),
        };
        let note = note.map(|note| format!("note: {note}\n")).unwrap_or_default();
        output::print(&format!(
            "launch: {}\npublished: {}\nPUs: {}\ncpu list: {}\naffinity: {}\ncgroup: {}\nquota: \
             {}\npart: {part}\n{note}",
            situation.launch.name(),
            situation.published.name(),
            list(&situation.pus),
            or_none(&situation.cpu_list),
            list(&situation.affinity),
            or_none(&situation.cgroup),
            quota.map_or("none".to_owned(), |quota| quota.to_string()),
        ))
    }
}

/// What is to be said where a cgroup cannot be read.
pub(crate) const HIDDEN: &str = "the cgroup of this process is hidden, because its folder is not \
    mounted here: commands show the whole node, as hwloc's programs do";

/// What is to be said where a topology of this machine has no PU that this process may use.
pub(crate) fn elsewhere(situation: &Situation) -> String {
    let list = |set: &Set| set.to_text(Format::List);
    let cgroup = situation.cgroup.as_ref().map(|pus| format!(", its cgroup {}", list(pus)));
    format!(
        "no PU of the topology ({}) is among those that this process may use (affinity {}{}): does \
         something such as LXCFS stand in for files of the kernel?",
        list(&situation.pus),
        list(&situation.affinity),
        cgroup.unwrap_or_default()
    )
}
