//! The job that a user names.

use crate::publish::job;
use topobroker_reader::{Adopted, Job, adopt_job};

/// Adopts the job with a name.
pub(super) fn named(base: &'static Adopted, name: &str) -> anyhow::Result<Job<'static>> {
    Ok(adopt_job(base, &job::file_of(base, name)?.into())?)
}
