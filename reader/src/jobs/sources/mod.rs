//! What says which PUs a process may use: lists, affinity, cgroup and environment.

mod affinity;
mod cgroup;
mod cpu_list;
mod error;
mod omp_places;
mod pmix;
mod quota;
mod slurm;
mod text;
mod thread_affinity;

pub use affinity::affinity;
pub use cgroup::Cgroup;
pub use cpu_list::{CpuList, Numbering};
pub use error::SourceError;
pub use omp_places::omp_places;
pub use pmix::{pmix_cpu_list, pmix_cpuset};
pub use quota::CpuQuota;
pub(crate) use slurm::step_cpu_list;
pub use slurm::{SlurmBinding, slurm_cpu_bind};
pub use thread_affinity::{gomp_cpu_affinity, kmp_affinity};
