//! The job that a user names.

use anyhow::Context;
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

/// The PUs of a rank of a job over the adopted topology. A rank that is not bound has all PUs of the
/// job.
pub(crate) fn cpuset_of_rank(name: &str, rank: u32) -> anyhow::Result<Set> {
    let job = named(topobroker_reader::adopt()?, name)?;
    let found = job.rank(rank).with_context(|| not_here(name, rank))?;
    let all = || job.view().topology().root().cpuset().unwrap_or_default();
    Ok(found.cpuset.unwrap_or_else(all))
}

/// Says that a rank is not on this node.
pub(super) fn not_here(name: &str, rank: u32) -> String {
    format!("rank {rank} of {name} is not on this node")
}
