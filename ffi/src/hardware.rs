//! CPU kinds and distances.

use crate::answer::answer;
use crate::call::{call, call_with, value};
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::object::{object, tb_obj, text_of};
use crate::pointers::{Input, Out, Output, Room, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::structs::Struct;
use crate::topology::{object_type, tb_topology};
use alloc::borrow::ToOwned;
use alloc::format;
use core::ffi::c_char;
use topobroker_reader::{CpuKind, Distances, Object, Topology};

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
    efficiency: Out<'_, i32>,
) -> tb_status {
    call_with(|handles| {
        let kind = kind(topology.given("topology")?.get(), index)?;
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
    name: Out<'_, *const c_char>,
    value: Out<'_, *const c_char>,
) -> tb_status {
    call(|| {
        let topology = topology.given("topology")?.get();
        let (name, value) = (name.given("name")?, value.given("value")?);
        let found = kind(topology, index)?.infos().nth(info);
        let found = found.found(|| format!("CPU kind {index} has no info {info}"))?;
        name.write(text_of(Some(found.name)));
        value.write(text_of(Some(found.value)));
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
    index: Out<'_, usize>,
) -> tb_status {
    answer!(index, |topology, cpuset| {
        let kind = topology
            .cpu_kind_of(cpuset)
            .map_err(|error| Failure::new(tb_status::TB_ERR_NOT_FOUND, format_args!("{error}")))?;
        let pus = kind.cpuset();
        let found = topology.cpu_kinds().position(|other| other.cpuset() == pus);
        found.found(|| "no such CPU kind".to_owned())?
    })
}

fn kind(topology: Topology<'_>, index: usize) -> Result<CpuKind<'_>, Failure> {
    topology.cpu_kinds().nth(index).found(|| format!("no CPU kind {index}"))
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
    distances: Struct<'_, tb_distances>,
    distances_size: usize,
) -> tb_status {
    answer!(distances(distances_size), |topology| {
        let matrix = matrix(topology, index)?;
        tb_distances {
            count: matrix.objects().count(),
            kind: matrix.kind(),
            name: text_of(matrix.name()),
        }
    })
}

/// Stores the indexes of up to `capacity` distance matrices that have a name, if `name` is not
/// NULL, and that are between objects of one type, if `type` is not -1; and the number of all of
/// them in `count` (may be NULL). Counterparts: hwloc_distances_get_by_name,
/// hwloc_distances_get_by_type.
#[unsafe(no_mangle)]
pub extern "C" fn tb_distances_find(
    topology: Option<&tb_topology>,
    name: Text<'_>,
    r#type: i32,
    indexes: Room<'_, usize>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(indexes(capacity, count), |topology| {
        let name = name.optional("name")?;
        let of_type = if r#type == -1 { None } else { Some(object_type(r#type)?) };
        topology.distances().enumerate().filter_map(move |(index, matrix)| {
            let is_named = name.is_none_or(|name| matrix.name() == Some(name));
            (is_named && of_type.is_none_or(|it| matrix.is_of_type(it))).then_some(index)
        })
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
    count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let matrix = matrix(topology.given("topology")?.get(), index)?;
        objs.fill(matrix.objects().map(Object::id), capacity, count)
    })
}

/// Stores the value from one object of a distance matrix to another. TB_ERR_NOT_FOUND if one of
/// them is not in the matrix. Counterpart: hwloc_distances_obj_pair_values.
#[unsafe(no_mangle)]
pub extern "C" fn tb_distances_value(
    topology: Option<&tb_topology>,
    index: usize,
    from: tb_obj,
    to: tb_obj,
    value: Out<'_, u64>,
) -> tb_status {
    answer!(value, |topology| {
        let from = object(topology, from)?;
        let to = object(topology, to)?;
        let found = matrix(topology, index)?.between(from, to);
        found.found(|| "an object is not in the matrix".to_owned())?
    })
}

fn matrix(topology: Topology<'_>, index: usize) -> Result<Distances<'_>, Failure> {
    topology.distances().nth(index).found(|| format!("no distance matrix {index}"))
}
