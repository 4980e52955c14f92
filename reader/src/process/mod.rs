//! Finds the part of the topology that belongs to this process, from its job, launcher, affinity
//! and cgroup.

mod job;
mod scope;
mod sources;

pub use job::{AdoptJobError, Job, JobRank, adopt_job, runs_of_pus};
pub use scope::{Decision, EffectivePart, EffectiveViewError, Launch, Situation, effective_view};
pub use sources::{
    Cgroup, CpuList, Numbering, SlurmBinding, SourceError, affinity, hash_of_affinity,
    hash_of_cgroup, omp_places, place_of_cgroup, pmix_cpu_list, pmix_cpuset, slurm_cpu_bind,
};
