//! A node: what is published, what processes use, and what is wrong.

use super::object::{Set, ShortObject};
use serde::Serialize;

/// What is published on this node.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Status<'a> {
    pub(crate) version: &'static str,
    pub(crate) hwloc: String,
    pub(crate) segments: Vec<Segment<'a>>,
}

/// A segment of a topology.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Segment<'a> {
    pub(crate) file: String,
    pub(crate) size: u64,
    pub(crate) mode: String,
    pub(crate) owner: u32,
    pub(crate) age_seconds: f64,
    /// How long ago the daemon looked whether it is still true; null without a daemon.
    pub(crate) looked_seconds: Option<f64>,
    /// How often the daemon has put back files of its folder that were removed; null if none is
    /// known to run.
    pub(crate) repairs: Option<u64>,
    pub(crate) publisher: &'static str,
    pub(crate) publisher_pid: Option<u32>,
    pub(crate) mappings: usize,
    pub(crate) mapped_by: &'a [u32],
    pub(crate) jobs: Vec<String>,
    pub(crate) companion_files: Vec<String>,
    pub(crate) segment_id: Option<String>,
    pub(crate) address: Option<String>,
    pub(crate) source: Option<&'static str>,
    pub(crate) scope: Option<&'static str>,
    pub(crate) generation: Option<u64>,
    pub(crate) error: Option<String>,
}

/// Something that is wrong, or worth knowing.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Finding<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) kind: &'static str,
    /// Only worth knowing: the exit status stays 0.
    pub(crate) note: bool,
    pub(crate) text: &'a str,
}

/// How one thing is, and what to do.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Answer<'a> {
    pub(crate) name: &'static str,
    #[cfg_attr(test, schemars(extend("enum" = ["good", "note", "bad"])))]
    pub(crate) state: &'static str,
    pub(crate) text: &'a str,
    pub(crate) advice: Option<&'a str>,
}

/// Which part of a topology is this process's, and why.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Scope<'a> {
    pub(crate) launch: &'static str,
    pub(crate) published: &'static str,
    pub(crate) pus: Set,
    pub(crate) cpu_list: Option<Set>,
    pub(crate) affinity: Set,
    pub(crate) cgroup: Option<Set>,
    pub(crate) quota: Option<CpuQuota>,
    pub(crate) job: Option<&'a str>,
    pub(crate) part: Option<Set>,
    pub(crate) decision: Option<String>,
    /// What is wrong, if something is.
    pub(crate) note: Option<String>,
}

/// The CPU time that the cgroups of this process leave it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CpuQuota {
    /// The folder of the cgroup.
    pub(crate) cgroup: String,
    pub(crate) quota_us: u64,
    pub(crate) period_us: u64,
}

impl From<&topobroker_reader::jobs::CpuQuota> for CpuQuota {
    fn from(quota: &topobroker_reader::jobs::CpuQuota) -> Self {
        let topobroker_reader::jobs::CpuQuota { path, quota_us, period_us } = quota;
        Self { cgroup: path.to_string(), quota_us: *quota_us, period_us: *period_us }
    }
}

/// A process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Process<'a> {
    #[serde(flatten)]
    pub(crate) task: Task<'a>,
    pub(crate) job: Option<&'a str>,
    pub(crate) rank: Option<u32>,
    pub(crate) threads: Vec<Task<'a>>,
    pub(crate) misbound: Vec<Misbound<'a>>,
}

/// A process or thread, and where it is bound.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Task<'a> {
    pub(crate) id: u32,
    pub(crate) name: &'a str,
    pub(crate) bound: bool,
    pub(crate) cpuset: Set,
    pub(crate) objects: Vec<ShortObject>,
}

/// Why a process is bound badly.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Misbound<'a> {
    #[cfg_attr(test, schemars(extend("enum" = ["outside", "shared core", "far memory"])))]
    pub(crate) kind: &'static str,
    pub(crate) text: &'a str,
}

/// Where a process or thread is bound, or ran last.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Bound {
    pub(crate) cpuset: Set,
    pub(crate) nodeset: Set,
    /// With --membind: firsttouch, bind, interleave, weighted or unknown.
    pub(crate) policy: Option<&'static str>,
}

/// A set that was calculated.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Calculated {
    pub(crate) cpuset: Set,
    pub(crate) nodeset: Set,
    /// Words of the answer, if something other than the set is asked for.
    pub(crate) answer: Option<Vec<String>>,
}

/// What processes did with hwloc.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Audit<'a> {
    pub(crate) processes: Vec<ProcessOfAudit<'a>>,
    pub(crate) microseconds: u64,
    pub(crate) bytes_kept: i64,
    pub(crate) bytes_saved_by_sharing: i64,
    pub(crate) hwloc_inside: Vec<String>,
}

/// What a process did with hwloc.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProcessOfAudit<'a> {
    pub(crate) pid: u32,
    pub(crate) program: String,
    pub(crate) calls: Vec<Call<'a>>,
    pub(crate) hwloc_inside: Vec<String>,
}

/// A call of hwloc.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Call<'a> {
    pub(crate) call: &'a str,
    pub(crate) library: String,
    pub(crate) microseconds: u64,
    pub(crate) bytes: i64,
    pub(crate) destroyed: bool,
    pub(crate) failed: bool,
    pub(crate) load: &'a str,
    pub(crate) guard: &'a str,
}
