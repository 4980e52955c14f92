//! Views: a part of the topology, and where a process is told which.

use crate::call::{Failure, Given, adopting, call, call_with, value};
use crate::object::tb_obj;
use crate::pointers::{Input, List, Output, Room, Text};
use crate::set::{given_sets, store_sets, tb_set};
use crate::status::tb_status;
use crate::topology::tb_topology;
use std::mem::MaybeUninit;
use std::path::Path;
use topobroker_reader::{
    Cgroup, CpuList, Numbering, Object, RestrictFlags, Set, SlurmBinding, affinity, omp_places,
    pmix_cpu_list, pmix_cpuset, slurm_cpu_bind,
};

/// How a topology is restricted: the sum of these. Counterpart: hwloc_restrict_flags_e.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum tb_restrict_flags {
    /// Remove NUMA nodes that have no PUs left.
    TB_RESTRICT_REMOVE_CPULESS = 1,
    /// Hang Misc objects of what is removed higher.
    TB_RESTRICT_ADAPT_MISC = 2,
    /// Hang I/O objects of what is removed higher.
    TB_RESTRICT_ADAPT_IO = 4,
    /// The set is of NUMA nodes.
    TB_RESTRICT_BYNODESET = 8,
    /// With TB_RESTRICT_BYNODESET: remove PUs that have no NUMA node left.
    TB_RESTRICT_REMOVE_MEMLESS = 16,
}

/// Stores what is left of a topology, or of a view, when it is restricted to a set: a view, with the
/// answers that hwloc gives of a restricted duplicate, and no copy of anything. Free it with
/// tb_topology_free. Counterpart: hwloc_topology_restrict on a duplicate.
#[unsafe(no_mangle)]
pub extern "C" fn tb_view(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    flags: u64,
    view: Option<&mut MaybeUninit<Box<tb_topology>>>,
) -> tb_status {
    call_with(|handles| {
        let (topology, out) = (topology.given("topology")?, view.given("view")?);
        let flags = RestrictFlags::from_bits(flags);
        let view = topology.view().restrict(&set.given(handles, "set")?.0, flags)?;
        out.write(tb_topology::part(topology.adopted(), view));
        Ok(())
    })
}

/// Stores what two views show both. Free it with tb_topology_free.
#[unsafe(no_mangle)]
pub extern "C" fn tb_view_intersection(
    topology: Option<&tb_topology>,
    other: Option<&tb_topology>,
    view: Option<&mut MaybeUninit<Box<tb_topology>>>,
) -> tb_status {
    call(|| {
        let (topology, other) = (topology.given("topology")?, other.given("other")?);
        let out = view.given("view")?;
        let view = topology.view().intersection(other.view())?;
        out.write(tb_topology::part(topology.adopted(), view));
        Ok(())
    })
}

/// Whether two handles show the same of the same topology; false of NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_view_is_equal(
    topology: Option<&tb_topology>,
    other: Option<&tb_topology>,
) -> bool {
    value(false, || {
        topology.zip(other).is_some_and(|(topology, other)| topology.view() == other.view())
    })
}

/// Bytes of private memory that a view takes; 0 of the adopted topology and of NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_view_bytes(topology: Option<&tb_topology>) -> usize {
    value(0, || {
        let own = |topology: &&tb_topology| {
            topology.view() != &topobroker_reader::View::whole(topology.adopted().topology())
        };
        // The handle has the view in it, which counts itself.
        let more = size_of::<tb_topology>() - size_of::<topobroker_reader::View<'_>>();
        topology.filter(own).map_or(0, |topology| topology.view().bytes() + more)
    })
}

/// Stores this process's own part of the node's topology: adopts it, and takes the part of its job
/// where TOPOBROKER_JOB names one, else what launcher, affinity and cgroup leave. Free it with
/// tb_topology_free.
#[unsafe(no_mangle)]
pub extern "C" fn tb_effective_view(view: Option<&mut MaybeUninit<Box<tb_topology>>>) -> tb_status {
    adopting(|| {
        let out = view.given("view")?;
        let view = topobroker_reader::effective_view()?;
        out.write(tb_topology::part(topobroker_reader::adopt()?, view));
        Ok(())
    })
}

/// Makes `cpuset` the PUs that this process may run on. Counterpart: sched_getaffinity.
#[unsafe(no_mangle)]
pub extern "C" fn tb_affinity(cpuset: Output<'_, tb_set>) -> tb_status {
    call_with(|handles| {
        cpuset.given(handles, "cpuset")?.0 = affinity()?;
        Ok(())
    })
}

/// Makes `cpus` and `mems` (each may be NULL) what a cgroup's folder allows, version 1 or 2; of NULL,
/// that of this process. TB_ERR_NOT_FOUND if this process's has no cpuset controller.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cgroup(
    folder: Text<'_>,
    cpus: Output<'_, tb_set>,
    mems: Output<'_, tb_set>,
) -> tb_status {
    call_with(|handles| {
        let cgroup = match folder.optional("folder")? {
            Some(folder) => Cgroup::read(Path::new(folder))?,
            None => Cgroup::of_this_process()?.ok_or_else(|| {
                let detail = "this process is in no cgroup with a cpuset controller";
                Failure::new(tb_status::TB_ERR_NOT_FOUND, detail)
            })?,
        };
        if let Some(cpus) = cpus.optional(handles) {
            cpus.0 = cgroup.cpus;
        }
        if let Some(mems) = mems.optional(handles) {
            mems.0 = cgroup.mems;
        }
        Ok(())
    })
}

/// Stores up to `capacity` PUs of a cpu list in its order, and in `count` (may be NULL) how many there
/// are; their OS indexes go into `cpuset` (may be NULL). The list has logical indexes (0,2-5 or
/// P0:0-3;P1:*), or OS indexes if `os`.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpu_list(
    topology: Option<&tb_topology>,
    list: Text<'_>,
    os: bool,
    cpuset: Output<'_, tb_set>,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> tb_status {
    call_with(|handles| {
        let numbering = if os { Numbering::Os } else { Numbering::Logical };
        let topology = topology.given("topology")?.get();
        let list = CpuList::parse(topology, list.get("list")?, numbering)?;
        if let Some(cpuset) = cpuset.optional(handles) {
            cpuset.0 = list.to_set();
        }
        objs.fill(list.iter().map(Object::id), capacity, count)
    })
}

/// What a text of an environment variable is.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum tb_source {
    /// PMIX_CPU_LIST.
    TB_SOURCE_PMIX_CPU_LIST = 0,
    /// PMIX_CPUSET.
    TB_SOURCE_PMIX_CPUSET = 1,
    /// SLURM_CPU_BIND.
    TB_SOURCE_SLURM_CPU_BIND = 2,
}

/// Makes `cpuset` what a launcher's text says, a tb_source; of SLURM_CPU_BIND, for the task with a local
/// id. TB_ERR_NOT_FOUND where Slurm leaves it to itself.
#[unsafe(no_mangle)]
pub extern "C" fn tb_source_cpuset(
    topology: Option<&tb_topology>,
    source: i32,
    text: Text<'_>,
    local_id: usize,
    cpuset: Output<'_, tb_set>,
) -> tb_status {
    call_with(|handles| {
        let topology = topology.given("topology")?.get();
        let (text, cpuset) = (text.get("text")?, cpuset.given(handles, "cpuset")?);
        cpuset.0 = match source {
            0 => pmix_cpu_list(topology, text)?.to_set(),
            1 => pmix_cpuset(topology, text)?,
            2 => match slurm_cpu_bind(topology, text, local_id)? {
                SlurmBinding::Pus(pus) => pus,
                SlurmBinding::Automatic | SlurmBinding::None => {
                    let detail = format!("{text:?} names no PUs: ask for the affinity");
                    return Err(Failure::new(tb_status::TB_ERR_NOT_FOUND, detail));
                }
            },
            other => return Err(Failure::argument(format!("source {other}, expected 0 to 2"))),
        };
        Ok(())
    })
}

/// Stores the number of places of an OMP_PLACES text in `count`, and the PUs of the first `capacity` of
/// them in `sets`.
#[unsafe(no_mangle)]
pub extern "C" fn tb_omp_places(
    topology: Option<&tb_topology>,
    text: Text<'_>,
    sets: List<'_, Output<'_, tb_set>>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> tb_status {
    call_with(|handles| {
        let (topology, count) = (topology.given("topology")?.get(), count.given("count")?);
        let mut places: Vec<Set> = omp_places(topology, text.get("text")?)?;
        let room = places.len().min(capacity);
        let sets = given_sets(handles, sets, room)?;
        count.write(places.len());
        places.truncate(room);
        store_sets(handles, sets, places)
    })
}
