//! The job that a user names.

use anyhow::Context;
use clap::Args;
use topobroker::publish::job;
use topobroker_reader::{
    Adopted, Set,
    jobs::{Job, adopt_job},
};

/// Adopts the job with a name.
pub(crate) fn named(base: &'static Adopted, name: &str) -> anyhow::Result<Job<'static>> {
    let file = job::file_of(base, name)?;
    match adopt_job(base, file.clone()) {
        Err(_) if !file.exists() => Err(job::JobError::Missing { name: name.to_owned() }.into()),
        job => Ok(job?),
    }
}

/// The job that a command is about.
#[derive(Debug, Args)]
pub(super) struct JobName {
    /// Name of the job; by default the job of this process
    name: Option<String>,
}

impl JobName {
    /// Adopts the job.
    pub(super) fn adopt(&self, base: &'static Adopted) -> anyhow::Result<Job<'static>> {
        match &self.name {
            Some(name) => named(base, name),
            None => Job::find(base)?.context(
                "this process is in no job: give a NAME; `topobroker job list` lists the jobs",
            ),
        }
    }
}

/// The PUs of a rank of a job over the adopted topology. A rank that is not bound has all PUs of
/// the job.
pub(crate) fn cpuset_of_rank(job: Job<'_>, rank: u32) -> anyhow::Result<Set> {
    let found = job.rank(rank).with_context(|| not_here(job, rank))?;
    let all = || job.view().topology().root().cpuset().unwrap_or_default();
    Ok(found.cpuset.unwrap_or_else(all))
}

/// The ranks of a job that are asked for: the given one, or all on this node.
pub(super) fn asked(job: Job<'_>, rank: Option<u32>) -> anyhow::Result<Vec<u32>> {
    if let Some(rank) = rank {
        job.rank(rank).with_context(|| not_here(job, rank))?;
        return Ok(vec![rank]);
    }
    Ok(job.ranks().map(|it| it.rank).collect())
}

/// The environment lines of a rank: a line for each variable if no other rank is asked for,
/// otherwise one line that begins with the rank.
pub(super) fn environment_lines(
    rank: u32,
    is_alone: bool,
    variables: &[(&'static str, String)],
) -> String {
    let words = variables.iter().map(|(name, value)| format!("{name}={value}"));
    let words: Vec<String> = words.collect();
    match is_alone {
        true => words.iter().map(|word| format!("{word}\n")).collect(),
        false if words.is_empty() => String::new(),
        false => format!("{rank} {}\n", words.join(" ")),
    }
}

/// Says that a rank is not on this node.
pub(super) fn not_here(job: Job<'_>, rank: u32) -> String {
    format!("rank {rank} of {} is not on this node", job.name())
}
