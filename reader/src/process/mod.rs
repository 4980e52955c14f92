//! What part of the topology is this process's: its job, its launcher, its affinity and its cgroup.

mod job;
mod scope;
mod sources;

pub use job::{AdoptJobError, Job, JobRank, adopt_job};
pub use scope::{Decision, EffectivePart, EffectiveViewError, Launch, Situation, effective_view};
pub use sources::{
    Cgroup, CpuList, Numbering, SlurmBinding, SourceError, affinity, omp_places, pmix_cpu_list,
    pmix_cpuset, slurm_cpu_bind,
};
