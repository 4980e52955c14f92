//! Jobs, and the part of the topology that belongs to this process.
//!
//! [`effective_view`] is what a process usually wants: a view of the part of its job, or of the
//! part that its launcher, affinity and cgroup leave it. [`cgroup_view`] is what hwloc's own
//! programs would see: only the cgroup counts. [`adopt_job`] adopts a job: its ranks, their PUs,
//! NICs and GPUs; [`runs_of_pus`] is how it stores their PUs. The other functions read one source
//! each.
//!
//! ```no_run
//! let view = topobroker_reader::jobs::effective_view()?;
//! println!("{} PUs", view.topology().root().pus().map_or(0, |pus| pus.len()));
//! # Ok::<(), topobroker_reader::jobs::EffectiveViewError>(())
//! ```

mod job;
mod scope;
mod sources;

pub use job::{AdoptJobError, Job, JobRank, adopt_job, runs_of_pus};
pub use scope::{
    Decision, EffectivePart, EffectiveViewError, Launch, Situation, cgroup_view, effective_view,
};
pub use sources::{
    Cgroup, CpuList, CpuQuota, Numbering, SlurmBinding, SourceError, affinity, gomp_cpu_affinity,
    kmp_affinity, omp_places, pmix_cpu_list, pmix_cpuset, slurm_cpu_bind,
};
