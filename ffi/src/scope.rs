//! Whose part of the topology a process is to look at, and why.

use crate::call::{Failure, Given, call, value};
use crate::pointers::{Buffer, Input, Output};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::topology::tb_topology;
use std::mem::MaybeUninit;
use topobroker_reader::{Decision, Launch, Part, Scope, Situation, trusted_var};

/// All that the decision depends on; sets may be NULL where the process has no such.
#[repr(C)]
pub struct tb_situation<'a> {
    /// How the process was started: 0 Open MPI, 1 PRRTE, 2 directly, 3 by nobody, 4 by Slurm.
    pub launch: i32,
    /// Whose resources the topology describes: 0 the machine's, 1 a cgroup's, 2 a job's.
    pub published: i32,
    /// Whether the topology is of the machine that the process runs on.
    pub is_this_system: bool,
    /// PUs of the topology; not NULL.
    pub pus: Input<'a, tb_set>,
    /// PUs that the launcher gave the job: of PMIX_CPU_LIST, or of TOPOBROKER_CPU_LIST.
    pub cpu_list: Input<'a, tb_set>,
    /// PUs that the process may run on; not NULL.
    pub affinity: Input<'a, tb_set>,
    /// PUs of its cgroup.
    pub cgroup: Input<'a, tb_set>,
}

/// Decides for this process: stores whether it is to look at all of the topology, else makes `cpuset` its
/// part, and writes the reason into `reason` (may be NULL if `size` is
/// 0; 256 bytes are enough for all).
#[unsafe(no_mangle)]
pub extern "C" fn tb_scope(
    topology: Option<&tb_topology>,
    all: Option<&mut MaybeUninit<bool>>,
    cpuset: Output<'_, tb_set>,
    reason: Buffer<'_>,
    size: usize,
) -> tb_status {
    call(|| {
        let adopted = topology.given("topology")?.adopted();
        tell(&Situation::of_this_process(adopted)?.decide(), all, cpuset, reason, size)
    })
}

/// The same decision for a process in whatever situation: it depends on nothing else.
#[unsafe(no_mangle)]
pub extern "C" fn tb_scope_decide(
    situation: Option<&tb_situation<'_>>,
    all: Option<&mut MaybeUninit<bool>>,
    cpuset: Output<'_, tb_set>,
    reason: Buffer<'_>,
    size: usize,
) -> tb_status {
    call(|| {
        let asked = situation.given("situation")?;
        let set = |set: Input<'_, tb_set>| set.optional().map(|set| set.0.clone());
        let situation = Situation {
            launch: match asked.launch {
                0 => Launch::OpenMpi,
                1 => Launch::Prte,
                2 => Launch::Direct,
                3 => Launch::Singleton,
                4 => Launch::Slurm,
                other => return Err(Failure::argument(format!("launch {other}"))),
            },
            published: scope(asked.published)?,
            is_this_system: asked.is_this_system,
            pus: set(asked.pus).given("pus")?,
            cpu_list: set(asked.cpu_list),
            affinity: set(asked.affinity).given("affinity")?,
            cgroup: set(asked.cgroup),
        };
        tell(&situation.decide(), all, cpuset, reason, size)
    })
}

/// The scope with a number.
pub(crate) fn scope(number: i32) -> Result<Scope, Failure> {
    match number {
        0 => Ok(Scope::Machine),
        1 => Ok(Scope::Cgroup),
        2 => Ok(Scope::Job),
        other => Err(Failure::argument(format!("scope {other}, expected 0 to 2"))),
    }
}

fn tell(
    decision: &Decision,
    all: Option<&mut MaybeUninit<bool>>,
    cpuset: Output<'_, tb_set>,
    reason: Buffer<'_>,
    size: usize,
) -> Result<(), Failure> {
    let (all, cpuset) = (all.given("all")?, cpuset.given("cpuset")?);
    if size > 0 {
        reason.fill(decision.reason, size, None)?;
    }
    all.write(decision.part == Part::All);
    if let Part::Pus(pus) = &decision.part {
        cpuset.0 = pus.clone();
    }
    Ok(())
}

/// How this process was started, as tb_situation.launch has it.
#[unsafe(no_mangle)]
pub extern "C" fn tb_launch() -> i32 {
    value(-1, || match Launch::from_env(trusted_var) {
        Launch::OpenMpi => 0,
        Launch::Prte => 1,
        Launch::Direct => 2,
        Launch::Singleton => 3,
        Launch::Slurm => 4,
    })
}
