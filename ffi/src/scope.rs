//! Decides whether a process is to use all of the topology or only a part of it, and why.

use crate::call::{call_with, value};
use crate::failure::Failure;
use crate::given::Given;
use crate::pointers::{Buffer, Handles, Input, Out, Output};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::structs::Asked;
use crate::topology::tb_topology;
use topobroker_process::trusted_var;
use topobroker_reader::{
    Scope,
    jobs::{Decision, EffectivePart, Launch, Situation},
};

/// How a process was started.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_launcher {
    /// By mpirun of Open MPI.
    TB_LAUNCHER_OPEN_MPI = 0,
    /// By a DVM of PRRTE.
    TB_LAUNCHER_PRTE = 1,
    /// By another launcher, such as hydra.
    TB_LAUNCHER_DIRECT = 2,
    /// Not by a launcher.
    TB_LAUNCHER_NONE = 3,
    /// As a task of Slurm.
    TB_LAUNCHER_SLURM = 4,
}

/// Everything that the decision of tb_scope_decide depends on.
#[repr(C)]
pub struct tb_situation<'a> {
    /// How the process was started: a tb_launcher.
    pub launch: i32,
    /// Whose resources the topology describes: a tb_segment_scope.
    pub published: i32,
    /// Whether the topology is of the machine that the process runs on.
    pub is_this_system: bool,
    /// PUs of the topology. Must not be NULL.
    pub pus: Input<'a, tb_set>,
    /// PUs that the launcher gave the job: those of PMIX_CPU_LIST or of TOPOBROKER_CPU_LIST. NULL
    /// if there is no such list.
    pub cpu_list: Input<'a, tb_set>,
    /// PUs that the process may run on. Must not be NULL.
    pub affinity: Input<'a, tb_set>,
    /// PUs of the cgroup of the process. NULL if it has no cpuset controller.
    pub cgroup: Input<'a, tb_set>,
}

/// Decides whether this process is to use all of the topology, and stores the answer in `all`. If
/// it is to use only a part, makes `cpuset` the PUs of that part; otherwise `cpuset` stays as it
/// is. Writes the reason into `reason` with a zero at its end; 256 bytes are enough for every
/// reason. `reason` may be NULL if `size` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn tb_scope(
    topology: Option<&tb_topology>,
    all: Out<'_, bool>,
    cpuset: Output<'_, tb_set>,
    reason: Buffer<'_>,
    size: usize,
) -> tb_status {
    call_with(|handles| {
        let adopted = topology.given("topology")?.adopted()?;
        answer(handles, &Situation::of_this_process(adopted)?.decide(), all, cpuset, reason, size)
    })
}

/// Makes the decision of tb_scope for a process in any situation. The decision depends on nothing
/// else. The other arguments are those of tb_scope.
#[unsafe(no_mangle)]
pub extern "C" fn tb_scope_decide(
    situation: Asked<'_, tb_situation<'_>>,
    situation_size: usize,
    all: Out<'_, bool>,
    cpuset: Output<'_, tb_set>,
    reason: Buffer<'_>,
    size: usize,
) -> tb_status {
    call_with(|handles| {
        let asked = situation.given(situation_size)?;
        let set = |set: &Input<'_, tb_set>| set.optional(handles).map(|set| set.0.clone());
        let situation = Situation {
            launch: launch(asked.launch)?,
            published: scope(asked.published)?,
            is_this_system: asked.is_this_system,
            pus: set(&asked.pus).given("pus")?,
            cpu_list: set(&asked.cpu_list),
            affinity: set(&asked.affinity).given("affinity")?,
            cgroup: set(&asked.cgroup),
        };
        answer(handles, &situation.decide(), all, cpuset, reason, size)
    })
}

/// The launchers with their numbers in C.
const LAUNCHERS: [(Launch, tb_launcher); 5] = [
    (Launch::OpenMpi, tb_launcher::TB_LAUNCHER_OPEN_MPI),
    (Launch::Prte, tb_launcher::TB_LAUNCHER_PRTE),
    (Launch::Direct, tb_launcher::TB_LAUNCHER_DIRECT),
    (Launch::Singleton, tb_launcher::TB_LAUNCHER_NONE),
    (Launch::Slurm, tb_launcher::TB_LAUNCHER_SLURM),
];

fn launch(number: i32) -> Result<Launch, Failure> {
    let found = LAUNCHERS.into_iter().find(|(_, known)| *known as i32 == number);
    let found = found.map(|(launch, _)| launch);
    found.ok_or_else(|| Failure::argument(format_args!("launcher {number}, expected 0 to 4")))
}

/// The scope with a number of tb_segment_scope.
pub(crate) fn scope(number: i32) -> Result<Scope, Failure> {
    let found = u32::try_from(number).ok().and_then(Scope::from_raw);
    found.ok_or_else(|| Failure::argument(format_args!("scope {number}, expected 1 to 3")))
}

fn answer(
    handles: &mut Handles,
    decision: &Decision,
    all: Out<'_, bool>,
    cpuset: Output<'_, tb_set>,
    reason: Buffer<'_>,
    size: usize,
) -> Result<(), Failure> {
    let (all, cpuset) = (all.given("all")?, cpuset.given(handles, "cpuset")?);
    if size > 0 {
        reason.fill(decision.reason, size, Out::null())?;
    }
    all.write(decision.part == EffectivePart::All);
    if let EffectivePart::Pus(pus) = &decision.part {
        cpuset.0 = pus.clone();
    }
    Ok(())
}

/// How this process was started: a tb_launcher.
#[unsafe(no_mangle)]
pub extern "C" fn tb_scope_launcher() -> i32 {
    value(-1, || {
        let found = Launch::from_env(trusted_var);
        let known = LAUNCHERS.into_iter().find(|(launch, _)| *launch == found);
        known.map_or(-1, |(_, launcher)| launcher as i32)
    })
}
