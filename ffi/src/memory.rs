//! Local NUMA nodes, and memory attributes.

use crate::answer::answer;
use crate::call::call_with;
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::object::{TB_OBJ_NONE, object, tb_obj, text_of};
use crate::pointers::{Handles, Input, Out, Output, Room, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::structs::Struct;
use crate::topology::tb_topology;
use alloc::borrow::ToOwned;
use alloc::format;
use core::ffi::c_char;
use core::mem::MaybeUninit;
use topobroker_reader::{Initiator, LocalNumaNodes, MemoryAttribute, Object, Set, Topology};

/// A memory attribute. Counterpart: hwloc_memattr_id_t with its name and flags.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_memory_attribute {
    /// Id: 0 is Capacity, 1 Locality, 2 Bandwidth, 3 Latency. Attributes that the platform adds
    /// have the ids after these.
    pub id: u32,
    /// Whether values depend on the initiator, which is the place from which memory is used.
    pub needs_initiator: bool,
    /// Sum of hwloc's HWLOC_MEMATTR_FLAG_ flags.
    pub flags: u64,
    /// Name, in the segment.
    pub name: *const c_char,
}

/// Stores up to `capacity` NUMA nodes that are local to a set of PUs in `objs`, and the number of
/// all of them in `count` (may be NULL). `flags` is a sum of hwloc's flags. 0: nodes that have
/// exactly these PUs. 1: also nodes that have these PUs and others. 2: also nodes that have some of
/// these PUs and no others, and nodes without PUs. 4: all nodes. 8: nodes that have some of these
/// PUs. Counterpart: hwloc_get_local_numanode_objs.
#[unsafe(no_mangle)]
pub extern "C" fn tb_memory_local_nodes(
    topology: Option<&tb_topology>,
    cpuset: Input<'_, tb_set>,
    flags: u64,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(objs(capacity, count), |topology, cpuset| {
        let which = LocalNumaNodes::from_bits(flags);
        let which = which.ok_or_else(|| Failure::argument(format_args!("flags {flags:#x}")))?;
        let found = topology.local_numa_nodes(cpuset, which);
        found.map(Object::id)
    })
}

/// Makes `nodeset` the NUMA nodes that share a PU with `cpuset`. Counterpart:
/// hwloc_cpuset_to_nodeset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpuset_to_nodeset(
    topology: Option<&tb_topology>,
    cpuset: Input<'_, tb_set>,
    nodeset: Output<'_, tb_set>,
) -> tb_status {
    answer!(*nodeset, |topology, cpuset| topology.nodeset_of(cpuset))
}

/// Makes `cpuset` the PUs of the NUMA nodes of `nodeset`. Counterpart: hwloc_cpuset_from_nodeset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cpuset_from_nodeset(
    topology: Option<&tb_topology>,
    nodeset: Input<'_, tb_set>,
    cpuset: Output<'_, tb_set>,
) -> tb_status {
    answer!(*cpuset, |topology, nodeset| topology.cpuset_of_nodes(nodeset))
}

/// Stores the memory attribute with a name. Case does not matter. TB_ERR_NOT_FOUND if there is
/// none. Counterpart: hwloc_memattr_get_by_name.
#[unsafe(no_mangle)]
pub extern "C" fn tb_memory_attribute_by_name(
    topology: Option<&tb_topology>,
    name: Text<'_>,
    attribute: Struct<'_, tb_memory_attribute>,
    attribute_size: usize,
) -> tb_status {
    answer!(attribute(attribute_size), |topology, name| {
        let found = topology.memory_attribute(name);
        data(found.found(|| format!("no memory attribute {name:?}"))?)
    })
}

/// Stores the memory attribute with an id, from 0. TB_ERR_NOT_FOUND after the last. Counterpart:
/// hwloc_memattr_get_name.
#[unsafe(no_mangle)]
pub extern "C" fn tb_memory_attribute_get(
    topology: Option<&tb_topology>,
    id: u32,
    attribute: Struct<'_, tb_memory_attribute>,
    attribute_size: usize,
) -> tb_status {
    answer!(attribute(attribute_size), |topology| data(by_id(topology, id)?))
}

/// Stores the value of an attribute at a target, from an initiator: from the PUs of
/// `initiator_cpuset`, or if that is NULL, from `initiator_obj`. If the attribute needs no
/// initiator, give NULL and TB_OBJ_NONE. TB_ERR_NOT_FOUND if there is no such value. Counterpart:
/// hwloc_memattr_get_value.
#[unsafe(no_mangle)]
pub extern "C" fn tb_memory_value(
    topology: Option<&tb_topology>,
    id: u32,
    target: tb_obj,
    initiator_cpuset: Input<'_, tb_set>,
    initiator_obj: tb_obj,
    value: Out<'_, u64>,
) -> tb_status {
    call_with(|handles| {
        let (topology, value) = (topology.given("topology")?.get(), value.given("value")?);
        let target = object(topology, target)?;
        let from = initiator(handles, topology, &initiator_cpuset, initiator_obj)?;
        let found = by_id(topology, id)?.value(target, &from);
        value.write(found.found(|| "no value of the attribute at the target".to_owned())?);
        Ok(())
    })
}

/// Stores one of the values of an attribute, and its target. `index` counts from 0:
/// TB_ERR_NOT_FOUND after the last. If the initiator is a set of PUs, `cpuset` becomes this set and
/// `obj` becomes TB_OBJ_NONE. If it is an object, `obj` becomes this object and `cpuset` becomes
/// empty. If the attribute needs no initiator, `cpuset` becomes empty and `obj` TB_OBJ_NONE.
/// Counterparts: hwloc_memattr_get_targets, hwloc_memattr_get_initiators.
#[unsafe(no_mangle)]
pub extern "C" fn tb_memory_value_at(
    topology: Option<&tb_topology>,
    id: u32,
    index: usize,
    target: Out<'_, tb_obj>,
    cpuset: Output<'_, tb_set>,
    obj: Out<'_, tb_obj>,
    value: Out<'_, u64>,
) -> tb_status {
    call_with(|handles| {
        let topology = topology.given("topology")?.get();
        let (target, value) = (target.given("target")?, value.given("value")?);
        let (cpuset, obj) = (cpuset.given(handles, "cpuset")?, obj.given("obj")?);
        let found = by_id(topology, id)?.values().nth(index);
        let found = found.found(|| format!("attribute {id} has no value {index}"))?;
        target.write(found.target.id());
        value.write(found.value);
        store_initiator(found.initiator, cpuset, obj);
        Ok(())
    })
}

/// Stores the target with the best value from an initiator, and that value in `value` (may be
/// NULL). The initiator is given as in tb_memory_value. TB_ERR_NOT_FOUND if there is no value.
/// Counterpart: hwloc_memattr_get_best_target.
#[unsafe(no_mangle)]
pub extern "C" fn tb_memory_best_target(
    topology: Option<&tb_topology>,
    id: u32,
    initiator_cpuset: Input<'_, tb_set>,
    initiator_obj: tb_obj,
    target: Out<'_, tb_obj>,
    value: Out<'_, u64>,
) -> tb_status {
    call_with(|handles| {
        let (topology, target) = (topology.given("topology")?.get(), target.given("target")?);
        let from = initiator(handles, topology, &initiator_cpuset, initiator_obj)?;
        let best = by_id(topology, id)?.best_target(&from);
        let (best, best_value) =
            best.found(|| "the attribute has no value from there".to_owned())?;
        target.write(best.id());
        value.store(best_value);
        Ok(())
    })
}

/// Stores the initiator with the best value at a target in `cpuset` and `obj`, as
/// tb_memory_value_at does, and that value in `value` (may be NULL). TB_ERR_NOT_FOUND if the target
/// has no value. Counterpart: hwloc_memattr_get_best_initiator.
#[unsafe(no_mangle)]
pub extern "C" fn tb_memory_best_initiator(
    topology: Option<&tb_topology>,
    id: u32,
    target: tb_obj,
    cpuset: Output<'_, tb_set>,
    obj: Out<'_, tb_obj>,
    value: Out<'_, u64>,
) -> tb_status {
    call_with(|handles| {
        let topology = topology.given("topology")?.get();
        let (cpuset, obj) = (cpuset.given(handles, "cpuset")?, obj.given("obj")?);
        let best = by_id(topology, id)?.best_initiator(object(topology, target)?);
        let (from, best_value) = best.found(|| "the target has no value".to_owned())?;
        store_initiator(from, cpuset, obj);
        value.store(best_value);
        Ok(())
    })
}

fn store_initiator(from: Initiator<'_>, cpuset: &mut tb_set, obj: &mut MaybeUninit<tb_obj>) {
    let (pus, id) = match from {
        Initiator::Cpuset(pus) => (pus, TB_OBJ_NONE),
        Initiator::Object(object) => (Set::new(), object.id()),
        Initiator::None => (Set::new(), TB_OBJ_NONE),
    };
    cpuset.0 = pus;
    obj.write(id);
}

fn by_id(topology: Topology<'_>, id: u32) -> Result<MemoryAttribute<'_>, Failure> {
    let found = topology.memory_attributes().nth(id as usize);
    found.found(|| format!("no memory attribute {id}"))
}

fn data(attribute: MemoryAttribute<'_>) -> tb_memory_attribute {
    tb_memory_attribute {
        id: u32::try_from(attribute.id()).unwrap_or(u32::MAX),
        needs_initiator: attribute.needs_initiator(),
        flags: attribute.flags(),
        name: text_of(Some(attribute.name())),
    }
}

fn initiator<'a>(
    handles: &Handles,
    topology: Topology<'a>,
    cpuset: &Input<'_, tb_set>,
    obj: tb_obj,
) -> Result<Initiator<'a>, Failure> {
    Ok(match (cpuset.optional(handles), obj) {
        (Some(cpuset), _) => Initiator::Cpuset(cpuset.0.clone()),
        (None, TB_OBJ_NONE) => Initiator::None,
        (None, obj) => Initiator::Object(object(topology, obj)?),
    })
}
