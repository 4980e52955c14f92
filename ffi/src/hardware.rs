//! CPU kinds and distances.

use crate::call::{Found, Given, call, call_with, value};
use crate::failure::Failure;
use crate::object::{object, tb_obj, text_of};
use crate::pointers::{Input, Output, Room};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::topology::tb_topology;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::ToString;
use core::ffi::c_char;
use core::mem::MaybeUninit;
use topobroker_reader::{CpuKind, Distances, Object};

/// Number of CPU kinds; 0 if none are known or `topology` is NULL. Counterpart:
/// hwloc_cpukinds_get_nr.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpu_kind_count(topology: Option<&tb_topology>) -> usize {
    value(0, || topology.map_or(0, |topology| topology.get().cpu_kinds().count()))
}

/// Makes `cpuset` the PUs of a CPU kind, from 0, and stores its efficiency: 0 is the most
/// energy-efficient kind, -1 means unknown. TB_ERR_NOT_FOUND after the last kind. Counterpart:
/// hwloc_cpukinds_get_info.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpu_kind(
    topology: Option<&tb_topology>,
    index: usize,
    cpuset: Output<'_, tb_set>,
    efficiency: Option<&mut MaybeUninit<i32>>,
) -> tb_status {
    call_with(|handles| {
        let kind = kind(topology.given("topology")?, index)?;
        let efficiency = efficiency.given("efficiency")?;
        cpuset.given(handles, "cpuset")?.0 = kind.cpuset();
        efficiency.write(kind.efficiency().and_then(|it| i32::try_from(it).ok()).unwrap_or(-1));
        Ok(())
    })
}

/// Stores the name and the value of an info of a CPU kind. `info` counts from 0: TB_ERR_NOT_FOUND
/// after the last. The texts are in the segment.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpu_kind_info(
    topology: Option<&tb_topology>,
    index: usize,
    info: usize,
    name: Option<&mut MaybeUninit<*const c_char>>,
    value: Option<&mut MaybeUninit<*const c_char>>,
) -> tb_status {
    call(|| {
        let topology = topology.given("topology")?;
        let (name, value) = (name.given("name")?, value.given("value")?);
        let found = kind(topology, index)?.infos().nth(info);
        let found = found.found(|| format!("CPU kind {index} has no info {info}"))?;
        name.write(text_of(topology, Some(found.name)));
        value.write(text_of(topology, Some(found.value)));
        Ok(())
    })
}

/// Stores the index of the CPU kind of a set of PUs. TB_ERR_NOT_FOUND if the set is empty, if its
/// PUs are of several kinds, or if no PU has a known kind. Counterpart:
/// hwloc_cpukinds_get_by_cpuset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpu_kind_of(
    topology: Option<&tb_topology>,
    cpuset: Input<'_, tb_set>,
    index: Option<&mut MaybeUninit<usize>>,
) -> tb_status {
    call_with(|handles| {
        let (topology, index) = (topology.given("topology")?.get(), index.given("index")?);
        let kind = topology
            .cpu_kind_of(&cpuset.given(handles, "cpuset")?.0)
            .map_err(|error| Failure::new(tb_status::TB_ERR_NOT_FOUND, error.to_string()))?;
        let pus = kind.cpuset();
        let found = topology.cpu_kinds().position(|other| other.cpuset() == pus);
        index.write(found.found(|| "no such CPU kind".to_owned())?);
        Ok(())
    })
}

fn kind(topology: &tb_topology, index: usize) -> Result<CpuKind<'_>, Failure> {
    topology.get().cpu_kinds().nth(index).found(|| format!("no CPU kind {index}"))
}

/// A distance matrix. Counterpart: struct hwloc_distances_s.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_distances {
    /// Number of objects, which is the number of rows and of columns.
    pub count: usize,
    /// Sum of hwloc's HWLOC_DISTANCES_KIND_ flags.
    pub kind: u64,
    /// Name, such as NUMALatency, in the segment; NULL if there is none.
    pub name: *const c_char,
}

/// Number of distance matrices; 0 if `topology` is NULL. Counterpart: hwloc_distances_get.
#[unsafe(no_mangle)]
pub extern "C" fn tb_distances_count(topology: Option<&tb_topology>) -> usize {
    value(0, || topology.map_or(0, |topology| topology.get().distances().count()))
}

/// Stores the properties of a distance matrix. `index` counts from 0: TB_ERR_NOT_FOUND after the
/// last.
#[unsafe(no_mangle)]
pub extern "C" fn tb_distances_get(
    topology: Option<&tb_topology>,
    index: usize,
    distances: Option<&mut MaybeUninit<tb_distances>>,
) -> tb_status {
    call(|| {
        let (topology, out) = (topology.given("topology")?, distances.given("distances")?);
        let matrix = matrix(topology, index)?;
        out.write(tb_distances {
            count: matrix.objects().count(),
            kind: matrix.kind(),
            name: text_of(topology, matrix.name()),
        });
        Ok(())
    })
}

/// Stores up to `capacity` objects of a distance matrix in the order of its rows and columns, and
/// the number of all of them in `count` (may be NULL).
#[unsafe(no_mangle)]
pub extern "C" fn tb_distances_objs(
    topology: Option<&tb_topology>,
    index: usize,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> tb_status {
    call(|| {
        let matrix = matrix(topology.given("topology")?, index)?;
        objs.fill(matrix.objects().map(Object::id), capacity, count)
    })
}

/// Stores the value from one object of a distance matrix to another. TB_ERR_NOT_FOUND if one of
/// them is not in the matrix. Counterpart: hwloc_distances_obj_pair_values.
#[unsafe(no_mangle)]
pub extern "C" fn tb_distance(
    topology: Option<&tb_topology>,
    index: usize,
    from: tb_obj,
    to: tb_obj,
    value: Option<&mut MaybeUninit<u64>>,
) -> tb_status {
    call(|| {
        let (topology, value) = (topology.given("topology")?, value.given("value")?);
        let (from, to) = (object(topology.get(), from)?, object(topology.get(), to)?);
        let found = matrix(topology, index)?.between(from, to);
        value.write(found.found(|| "an object is not in the matrix".to_owned())?);
        Ok(())
    })
}

fn matrix(topology: &tb_topology, index: usize) -> Result<Distances<'_>, Failure> {
    topology.get().distances().nth(index).found(|| format!("no distance matrix {index}"))
}
