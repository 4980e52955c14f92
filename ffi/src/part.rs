//! Views of a part of the topology, and the sources from which a process knows its part.

use crate::answer::answer;
use crate::call::{adopting, call_with, value};
use crate::failure::Failure;
use crate::given::Given;
use crate::object::tb_obj;
use crate::pointers::{Input, List, Out, Output, Room, Text};
use crate::set::{given_sets, store_sets, tb_set};
use crate::status::tb_status;
use crate::topology::tb_topology;
use alloc::boxed::Box;
use alloc::vec::Vec;
use topobroker_reader::{
    Object, RestrictFlags, Set,
    jobs::{
        Cgroup, CpuList, Numbering, SlurmBinding, affinity, omp_places, pmix_cpu_list, pmix_cpuset,
        slurm_cpu_bind,
    },
};

/// Flags of a restriction. They may be combined by `|`. Counterpart: hwloc_restrict_flags_e.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_restrict_flags {
    /// Remove NUMA nodes that have no PUs left.
    TB_RESTRICT_REMOVE_CPULESS = 1,
    /// Attach Misc objects of removed objects higher.
    TB_RESTRICT_ADAPT_MISC = 2,
    /// Attach I/O objects of removed objects higher.
    TB_RESTRICT_ADAPT_IO = 4,
    /// The set has NUMA nodes, not PUs.
    TB_RESTRICT_BYNODESET = 8,
    /// With TB_RESTRICT_BYNODESET: remove PUs that have no NUMA node left.
    TB_RESTRICT_REMOVE_MEMLESS = 16,
}

/// Restricts a topology, or a view, to a set, and stores the result as a view. `flags` is a sum of
/// tb_restrict_flags. The view answers every query as hwloc answers it for a restricted duplicate,
/// but no object is copied. Free it with tb_topology_free. Counterpart: hwloc_topology_restrict on
/// a duplicate.
#[unsafe(no_mangle)]
pub extern "C" fn tb_view_new(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    flags: u64,
    view: Out<'_, Box<tb_topology>>,
) -> tb_status {
    answer!(view, |set| {
        let topology = topology.given("topology")?;
        let flags = RestrictFlags::from_bits(flags);
        topology.part_like(topology.view().restrict(set, flags)?)
    })
}

/// Stores a view of the part that is visible in both of two views. TB_ERR_RESTRICT if they have no
/// PU or no NUMA node in common. Free it with tb_topology_free.
#[unsafe(no_mangle)]
pub extern "C" fn tb_view_intersection(
    topology: Option<&tb_topology>,
    other: Option<&tb_topology>,
    view: Out<'_, Box<tb_topology>>,
) -> tb_status {
    answer!(view, || {
        let (topology, other) = (topology.given("topology")?, other.given("other")?);
        topology.part_like(topology.view().intersection(other.view())?)
    })
}

/// Whether the same part of the same topology is visible in both. False if one of them is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_view_is_equal(
    topology: Option<&tb_topology>,
    other: Option<&tb_topology>,
) -> bool {
    value(false, || {
        topology.zip(other).is_some_and(|(topology, other)| topology.view() == other.view())
    })
}

/// Bytes of private memory that a view takes; 0 if all of the adopted topology is visible, or if
/// `topology` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_view_bytes(topology: Option<&tb_topology>) -> usize {
    value(0, || {
        let own = |topology: &&tb_topology| match topology.of_adopted() {
            Some(it) => topology.view() != &topobroker_reader::View::whole(it.topology()),
            None => !topology.is_whole(),
        };
        // `View::bytes` counts the view, which is a field of the handle. Only the other fields are
        // added.
        let more = size_of::<tb_topology>() - size_of::<topobroker_reader::View<'_>>();
        topology.filter(own).map_or(0, |topology| topology.view().bytes() + more)
    })
}

/// Adopts the node's topology, and stores a view of the part of it that this process is to use: the
/// part of its job if TOPOBROKER_JOB or the PMIx server names one, otherwise the part that tb_scope
/// decides on. Free it with tb_topology_free.
#[unsafe(no_mangle)]
pub extern "C" fn tb_view_effective(view: Out<'_, Box<tb_topology>>) -> tb_status {
    adopting(|| {
        let out = view.given("view")?;
        let view = topobroker_reader::jobs::effective_view()?;
        out.write(tb_topology::part(Some(topobroker_reader::adopt()?), view));
        Ok(())
    })
}

/// Makes `cpuset` the PUs that the calling thread may run on. Counterpart: sched_getaffinity.
#[unsafe(no_mangle)]
pub extern "C" fn tb_source_affinity(cpuset: Output<'_, tb_set>) -> tb_status {
    answer!(*cpuset, || affinity()?)
}

/// Makes `cpus` the PUs and `mems` the NUMA nodes that a cgroup, version 1 or 2, allows. Each of
/// the two sets may be NULL. `folder` is the folder of the cgroup. If it is NULL, the cgroup is
/// that of this process, or the nearest one above it that has a cpuset controller: TB_ERR_NOT_FOUND
/// if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn tb_source_cgroup(
    folder: Text<'_>,
    cpus: Output<'_, tb_set>,
    mems: Output<'_, tb_set>,
) -> tb_status {
    call_with(|handles| {
        let cgroup = match folder.optional("folder")? {
            Some(folder) => Cgroup::read(folder)?,
            None => Cgroup::of_this_process()?.ok_or_else(|| {
                let detail = format_args!("this process is in no cgroup with a cpuset controller");
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

/// Stores up to `capacity` PUs of a CPU list in `objs`, in the order of the list, and the number of
/// all of them in `count` (may be NULL). Makes `cpuset` (may be NULL) their OS indexes. The list
/// has logical indexes (0,2-5 or P0:0-3;P1:*), or OS indexes if `os`.
#[unsafe(no_mangle)]
pub extern "C" fn tb_source_cpu_list(
    topology: Option<&tb_topology>,
    list: Text<'_>,
    os: bool,
    cpuset: Output<'_, tb_set>,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
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

/// Environment variables in which launchers pass a process its PUs.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_source {
    /// PMIX_CPU_LIST.
    TB_SOURCE_PMIX_CPU_LIST = 0,
    /// PMIX_CPUSET.
    TB_SOURCE_PMIX_CPUSET = 1,
    /// SLURM_CPU_BIND.
    TB_SOURCE_SLURM_CPU_BIND = 2,
}

/// Makes `cpuset` the PUs that the text of a launcher's variable names. `source` is a tb_source.
/// For SLURM_CPU_BIND, these are the PUs of the task with `local_id`; TB_ERR_NOT_FOUND if the text
/// names no PUs, because the task is not bound or Slurm chose its PUs.
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
                    let detail = format_args!("{text:?} names no PUs: ask for the affinity");
                    return Err(Failure::new(tb_status::TB_ERR_NOT_FOUND, detail));
                }
            },
            other => {
                return Err(Failure::argument(format_args!("source {other}, expected 0 to 2")));
            }
        };
        Ok(())
    })
}

/// Stores the number of places of an OMP_PLACES text in `count`, and makes the first `capacity` of
/// `sets` the PUs of the first places. No set that is written may be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tb_source_omp_places(
    topology: Option<&tb_topology>,
    text: Text<'_>,
    sets: List<'_, Output<'_, tb_set>>,
    capacity: usize,
    count: Out<'_, usize>,
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
