//! Binding this process and its threads. These functions act; all others only describe.

use crate::answer::answer;
use crate::call::call_with;
use crate::failure::Failure;
use crate::pointers::{Input, Out, Output};
use crate::set::tb_set;
use crate::status::tb_status;
use topobroker::binding::{
    MemoryPolicy, Target, bind, bind_memory, binding, last_location, memory_binding,
};

/// What is bound.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_bind_target {
    /// All threads of this process. Counterpart: HWLOC_CPUBIND_PROCESS.
    TB_BIND_PROCESS = 0,
    /// The thread that calls. Counterpart: HWLOC_CPUBIND_THREAD.
    TB_BIND_THREAD = 1,
}

/// Where the memory of a thread comes from. Counterpart: hwloc_membind_policy_t.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_memory_policy {
    /// What the system does by itself.
    TB_MEMORY_DEFAULT = 0,
    /// From the NUMA node of the PU that first uses it.
    TB_MEMORY_FIRSTTOUCH = 1,
    /// From some NUMA nodes.
    TB_MEMORY_BIND = 2,
    /// From some NUMA nodes in turn.
    TB_MEMORY_INTERLEAVE = 3,
    /// From some NUMA nodes in turn, by their bandwidth. From Linux 6.9.
    TB_MEMORY_WEIGHTED_INTERLEAVE = 5,
    /// Another policy.
    TB_MEMORY_MIXED = -1,
}

/// Binds a tb_bind_target to PUs. TB_ERR_BIND if the kernel refuses. Counterpart:
/// hwloc_set_cpubind.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpubind_set(target: i32, cpuset: Input<'_, tb_set>) -> tb_status {
    call_with(|handles| Ok(bind(target_of(target)?, &cpuset.given(handles, "cpuset")?.0)?))
}

/// Makes `cpuset` the PUs that a tb_bind_target may run on: of the process, those of any of its
/// threads. Counterpart: hwloc_get_cpubind.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpubind_get(target: i32, cpuset: Output<'_, tb_set>) -> tb_status {
    answer!(*cpuset, || binding(target_of(target)?)?)
}

/// Makes `cpuset` the PUs on which a tb_bind_target ran last. It may run elsewhere already.
/// Counterpart: hwloc_get_last_cpu_location.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpubind_last(target: i32, cpuset: Output<'_, tb_set>) -> tb_status {
    answer!(*cpuset, || last_location(target_of(target)?)?)
}

/// Binds the memory that the calling thread, and the programs that it starts, take from now on.
/// `policy` is a tb_memory_policy. TB_MEMORY_BIND takes memory from other nodes if those of
/// `nodeset` are full, unless `strict`. TB_MEMORY_DEFAULT and TB_MEMORY_FIRSTTOUCH do not use
/// `nodeset`. TB_ERR_BIND if the kernel refuses. Counterpart: hwloc_set_membind with
/// HWLOC_MEMBIND_THREAD and HWLOC_MEMBIND_BYNODESET.
#[unsafe(no_mangle)]
pub extern "C" fn tb_membind_set(
    policy: i32,
    nodeset: Input<'_, tb_set>,
    strict: bool,
) -> tb_status {
    call_with(|handles| {
        let found = POLICIES.into_iter().find(|(_, known)| *known as i32 == policy);
        let (policy, _) =
            found.ok_or_else(|| Failure::argument(format_args!("policy {policy}")))?;
        Ok(bind_memory(policy, &nodeset.given(handles, "nodeset")?.0, strict)?)
    })
}

/// Makes `nodeset` the NUMA nodes from which the calling thread takes memory, and stores the
/// policy, a tb_memory_policy. Counterpart: hwloc_get_membind with HWLOC_MEMBIND_THREAD and
/// HWLOC_MEMBIND_BYNODESET.
#[unsafe(no_mangle)]
pub extern "C" fn tb_membind_get(nodeset: Output<'_, tb_set>, policy: Out<'_, i32>) -> tb_status {
    call_with(|handles| {
        let (found, nodes) = memory_binding()?;
        let known = POLICIES.into_iter().find(|(policy, _)| Some(*policy) == found);
        let number = known.map_or(tb_memory_policy::TB_MEMORY_MIXED, |(_, number)| number);
        nodeset.given(handles, "nodeset")?.0 = nodes;
        policy.store(number as i32);
        Ok(())
    })
}

/// The policies with their numbers in C.
const POLICIES: [(MemoryPolicy, tb_memory_policy); 5] = [
    (MemoryPolicy::Default, tb_memory_policy::TB_MEMORY_DEFAULT),
    (MemoryPolicy::FirstTouch, tb_memory_policy::TB_MEMORY_FIRSTTOUCH),
    (MemoryPolicy::Bind, tb_memory_policy::TB_MEMORY_BIND),
    (MemoryPolicy::Interleave, tb_memory_policy::TB_MEMORY_INTERLEAVE),
    (MemoryPolicy::WeightedInterleave, tb_memory_policy::TB_MEMORY_WEIGHTED_INTERLEAVE),
];

fn target_of(target: i32) -> Result<Target, Failure> {
    match target {
        0 => Ok(Target::ThisProcess),
        1 => Ok(Target::ThisThread),
        other => Err(Failure::argument(format_args!("target {other}, expected 0 or 1"))),
    }
}
