//! Jobs: the part of the topology that belongs to a job, and the PUs of its ranks.

use crate::answer::{Handle, answer};
use crate::call::{call, call_with, value};
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::pointers::{Out, Output, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::topology::tb_topology;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use core::ffi::c_char;
use topobroker_reader::jobs::{Job, JobRank, adopt_job};

/// A job over the adopted topology. Free it with tb_job_free.
pub struct tb_job {
    job: Job<'static>,
    name: CString,
    adopted: &'static topobroker_reader::Adopted,
}

impl Handle for tb_job {
    type Means<'h> = Job<'static>;

    fn means(&self) -> Job<'static> {
        self.job
    }
}

/// Adopts the job in `file`. If `file` is NULL, adopts the job that TOPOBROKER_JOB or the PMIx
/// server of this process names: TB_ERR_NOT_FOUND if neither names one. TB_ERR_JOB if the job is
/// over another topology. Free the handle with tb_job_free. The segment of the job stays mapped for
/// the life of the process.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_adopt(
    topology: Option<&tb_topology>,
    file: Text<'_>,
    job: Out<'_, Box<tb_job>>,
) -> tb_status {
    call(|| {
        let (adopted, out) = (topology.given("topology")?.adopted()?, job.given("job")?);
        let job = match file.optional("file")? {
            Some(file) => adopt_job(adopted, file)?,
            None => Job::find(adopted)?
                .found(|| "neither TOPOBROKER_JOB nor PMIx names a job".to_owned())?,
        };
        let name = CString::new(job.name()).unwrap_or_default();
        out.write(Box::new(tb_job { job, name, adopted }));
        Ok(())
    })
}

/// Frees the handle of a job. If `job` is NULL, nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_free(job: Option<Box<tb_job>>) {
    drop(job);
}

/// Name of a job, valid until the handle is freed. NULL if `job` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_name(job: Option<&tb_job>) -> *const c_char {
    job.map_or(core::ptr::null(), |job| job.name.as_ptr())
}

/// Stores a view of the part of the topology that belongs to a job. Free it with tb_topology_free.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_view(job: Option<&tb_job>, view: Out<'_, Box<tb_topology>>) -> tb_status {
    answer!(view, || {
        let job = job.given("job")?;
        tb_topology::part(Some(job.adopted), job.job.view())
    })
}

/// Number of ranks of a job on this node; 0 if `job` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_rank_count(job: Option<&tb_job>) -> usize {
    value(0, || job.map_or(0, |job| job.job.ranks().len()))
}

/// Stores the rank with a local rank in `rank`, and makes `cpuset` its PUs: the empty set if the
/// rank is not bound. Each of the two may be NULL. The local rank is its position among the ranks
/// on this node, from 0: TB_ERR_NOT_FOUND after the last.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_local_rank(
    job: Option<&tb_job>,
    local_rank: usize,
    rank: Out<'_, u32>,
    cpuset: Output<'_, tb_set>,
) -> tb_status {
    call_with(|handles| {
        let JobRank { rank: number, cpuset: pus, .. } = of_local(job.given("job")?, local_rank)?;
        rank.store(number);
        if let Some(cpuset) = cpuset.optional(handles) {
            cpuset.0 = pus.unwrap_or_default();
        }
        Ok(())
    })
}

/// Makes `cpuset` the PUs of a rank: the empty set if the rank is not bound. TB_ERR_NOT_FOUND if
/// the rank is not on this node.
#[unsafe(no_mangle)]
pub extern "C" fn tb_job_cpuset(
    job: Option<&tb_job>,
    rank: u32,
    cpuset: Output<'_, tb_set>,
) -> tb_status {
    answer!(*cpuset, |job| {
        let found = job.rank(rank);
        let found = found.found(|| not_here(rank))?;
        found.cpuset.unwrap_or_default()
    })
}

/// Says that a rank is not on this node.
pub(crate) fn not_here(rank: u32) -> String {
    format!("rank {rank} is not on this node")
}

fn of_local(job: &tb_job, local_rank: usize) -> Result<JobRank, Failure> {
    job.job.ranks().nth(local_rank).found(|| format!("no local rank {local_rank}"))
}
