//! `topobroker scope`: prints what the adopted topology describes, and this process's part of it.

use super::output;
use clap::Args;
use std::process::ExitCode;
use topobroker_layout::set::{Format, Set};
use topobroker_reader::jobs::{Job, Situation};

/// Print what the adopted topology describes, which part of it is this process's own, and why
#[derive(Debug, Args)]
pub(super) struct Scope {}

impl Scope {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let adopted = topobroker_reader::adopt()?;
        let list = |set: &Set| set.to_text(Format::List);
        let or_none = |set: &Option<Set>| set.as_ref().map_or("none".to_owned(), list);
        let situation = Situation::of_this_process(adopted)?;
        let mut text = format!(
            "launch: {}\npublished: {}\nPUs: {}\ncpu list: {}\naffinity: {}\ncgroup: {}\n",
            situation.launch.name(),
            situation.published.name(),
            list(&situation.pus),
            or_none(&situation.cpu_list),
            list(&situation.affinity),
            or_none(&situation.cgroup),
        );
        match Job::find(adopted)? {
            Some(job) => {
                let view = job.view();
                let pus = view.topology().root().cpuset().unwrap_or_default();
                text += &format!("part: PUs {}: it is of job {}\n", list(&pus), job.name());
            }
            None => text += &format!("part: {}\n", situation.decide()),
        }
        output::print(&text)
    }
}
