//! Levels, and objects by their position in a level.

use crate::answer::answer;
use crate::call::{call, value};
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::object::tb_obj;
use crate::pointers::{Buffer, Out, Text};
use crate::status::tb_status;
use crate::topology::{object_type, tb_topology};
use alloc::format;
use topobroker_reader::{CacheKind, Depth, ObjectType, Topology, TypeDepth, TypeName};

/// What tb_type_depth stores for a type that has no objects. Counterpart: HWLOC_TYPE_DEPTH_UNKNOWN.
pub const TB_DEPTH_UNKNOWN: i32 = -1;
/// What tb_type_depth stores for a type with objects at several depths. Counterpart:
/// HWLOC_TYPE_DEPTH_MULTIPLE.
pub const TB_DEPTH_MULTIPLE: i32 = -2;

/// Number of depths of the tree of CPUs; 0 if `topology` is NULL. Counterpart:
/// hwloc_topology_get_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_topology_depth(topology: Option<&tb_topology>) -> u32 {
    value(0, || topology.map_or(0, |topology| topology.get().depth()))
}

/// Stores the depth of a type, or TB_DEPTH_UNKNOWN or TB_DEPTH_MULTIPLE. Memory, I/O and Misc
/// objects have hwloc's negative depths. Counterpart: hwloc_get_type_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_type_depth(
    topology: Option<&tb_topology>,
    r#type: i32,
    depth: Out<'_, i32>,
) -> tb_status {
    answer!(depth, |topology| number(topology.type_depth(object_type(r#type)?)))
}

/// Stores the depth of the caches of a level, 1 to 5, or TB_DEPTH_UNKNOWN or TB_DEPTH_MULTIPLE.
/// `kind` is a tb_cache_type, or -1 for any kind. Counterpart: hwloc_get_cache_type_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_cache_depth(
    topology: Option<&tb_topology>,
    level: u32,
    kind: i32,
    depth: Out<'_, i32>,
) -> tb_status {
    answer!(depth, |topology| {
        let kind = u32::try_from(kind).ok().map(CacheKind::from_raw);
        number(topology.cache_depth(level, kind))
    })
}

/// Stores the depth of a type, or of the first type below it that has objects. TB_DEPTH_UNKNOWN if
/// the type is at several depths. Counterpart: hwloc_get_type_or_below_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_type_or_below_depth(
    topology: Option<&tb_topology>,
    r#type: i32,
    depth: Out<'_, i32>,
) -> tb_status {
    near_depth(topology, r#type, depth, |all, of| all.type_or_below_depth(of))
}

/// Stores the depth of a type, or of the first type above it that has objects. TB_DEPTH_UNKNOWN if
/// the type is at several depths. Counterpart: hwloc_get_type_or_above_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_type_or_above_depth(
    topology: Option<&tb_topology>,
    r#type: i32,
    depth: Out<'_, i32>,
) -> tb_status {
    near_depth(topology, r#type, depth, |all, of| all.type_or_above_depth(of))
}

fn near_depth(
    topology: Option<&tb_topology>,
    r#type: i32,
    depth: Out<'_, i32>,
    find: impl FnOnce(Topology<'_>, ObjectType) -> Option<Depth>,
) -> tb_status {
    call(|| {
        let (topology, depth) = (topology.given("topology")?, depth.given("depth")?);
        depth.write(raw_or_unknown(find(topology.get(), object_type(r#type)?)));
        Ok(())
    })
}

/// Stores the depth of the groups of a level, or TB_DEPTH_UNKNOWN. Level 0 is the outermost one,
/// Group0. Counterpart: hwloc_get_type_depth_with_attr.
#[unsafe(no_mangle)]
pub extern "C" fn tb_group_depth(
    topology: Option<&tb_topology>,
    level: u32,
    depth: Out<'_, i32>,
) -> tb_status {
    answer!(depth, |topology| raw_or_unknown(topology.group_depth(level)))
}

/// Stores the type that a name such as L2, numa or Group1 stands for. Case does not matter, and the
/// beginning of a name is enough. TB_ERR_TEXT if the name is no type. Counterpart:
/// hwloc_type_sscanf.
#[unsafe(no_mangle)]
pub extern "C" fn tb_type_parse(name: Text<'_>, r#type: Out<'_, i32>) -> tb_status {
    call(|| {
        let (name, r#type) = (name.get("name")?, r#type.given("type")?);
        let parsed = TypeName::parse(name).ok_or_else(|| {
            let detail = format_args!("{name:?} is no type; expected such as core, L2 or numa");
            Failure::new(tb_status::TB_ERR_TEXT, detail)
        })?;
        r#type.write(parsed.object_type.raw().into());
        Ok(())
    })
}

/// Writes the name of a type, such as Package or L2Cache, with a zero at its end. `length` (may be
/// NULL) is set to the bytes of the text without the zero, also with TB_ERR_TRUNCATED. Counterpart:
/// hwloc_obj_type_string.
#[unsafe(no_mangle)]
pub extern "C" fn tb_type_name(
    r#type: i32,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), || object_type(r#type)?.name())
}

/// Stores the depth of the objects that NUMA nodes are attached to, or TB_DEPTH_MULTIPLE.
/// Counterpart: hwloc_get_memory_parents_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_memory_parents_depth(
    topology: Option<&tb_topology>,
    depth: Out<'_, i32>,
) -> tb_status {
    answer!(depth, |topology| number(topology.memory_parents_depth()))
}

/// Stores the type of the objects at a depth. TB_ERR_NOT_FOUND if the topology has no such depth.
/// Counterpart: hwloc_get_depth_type.
#[unsafe(no_mangle)]
pub extern "C" fn tb_depth_type(
    topology: Option<&tb_topology>,
    depth: i32,
    r#type: Out<'_, i32>,
) -> tb_status {
    call(|| {
        let (topology, r#type) = (topology.given("topology")?, r#type.given("type")?);
        let first = Depth::from_raw(depth).and_then(|depth| topology.get().depth_type(depth));
        r#type.write(first.found(|| format!("no objects at depth {depth}"))?.raw().into());
        Ok(())
    })
}

/// Number of objects at a depth; 0 if the topology has no such depth or is NULL. Counterpart:
/// hwloc_get_nbobjs_by_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_count_at_depth(topology: Option<&tb_topology>, depth: i32) -> usize {
    value(0, || {
        let all = topology.zip(Depth::from_raw(depth));
        all.map_or(0, |(topology, depth)| topology.get().objects_at_depth(depth).len())
    })
}

/// Number of objects of a type, at all depths; 0 if there is no such type or `topology` is NULL.
/// Counterpart: hwloc_get_nbobjs_by_type.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_count_with_type(topology: Option<&tb_topology>, r#type: i32) -> usize {
    value(0, || {
        let all = topology.zip(object_type(r#type).ok());
        all.map_or(0, |(topology, r#type)| topology.get().objects_with_type(r#type).count())
    })
}

/// Stores the object with a logical index at a depth. TB_ERR_NOT_FOUND if there is none.
/// Counterpart: hwloc_get_obj_by_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_at_depth(
    topology: Option<&tb_topology>,
    depth: i32,
    logical_index: u32,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    answer!(obj, |topology| {
        let known = Depth::from_raw(depth);
        let found = known.and_then(|known| topology.object_at_depth(known, logical_index));
        let found = found.found(|| format!("no object L#{logical_index} at depth {depth}"))?;
        found.id()
    })
}

/// Stores the object of a type at a position among all objects of that type, from 0.
/// TB_ERR_NOT_FOUND after the last. Counterpart: hwloc_get_obj_by_type.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_with_type(
    topology: Option<&tb_topology>,
    r#type: i32,
    index: usize,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    answer!(obj, |topology| {
        let found = topology.objects_with_type(object_type(r#type)?).nth(index);
        found.found(|| format!("no object {index} of type {type}"))?.id()
    })
}

/// Stores the PU with an OS index. TB_ERR_NOT_FOUND if there is none. Counterpart:
/// hwloc_get_pu_obj_by_os_index.
#[unsafe(no_mangle)]
pub extern "C" fn tb_pu_by_os_index(
    topology: Option<&tb_topology>,
    os_index: u32,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    answer!(obj, |topology| {
        let found = topology.pu_by_os_index(os_index);
        found.found(|| format!("no PU P#{os_index}"))?.id()
    })
}

/// Stores the NUMA node with an OS index. TB_ERR_NOT_FOUND if there is none. Counterpart:
/// hwloc_get_numanode_obj_by_os_index.
#[unsafe(no_mangle)]
pub extern "C" fn tb_numa_node_by_os_index(
    topology: Option<&tb_topology>,
    os_index: u32,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    answer!(obj, |topology| {
        let found = topology.numa_node_by_os_index(os_index);
        found.found(|| format!("no NUMA node P#{os_index}"))?.id()
    })
}

fn number(depth: TypeDepth) -> i32 {
    match depth {
        TypeDepth::Depth(depth) => depth.raw(),
        TypeDepth::Unknown => TB_DEPTH_UNKNOWN,
        TypeDepth::Multiple => TB_DEPTH_MULTIPLE,
    }
}

fn raw_or_unknown(depth: Option<Depth>) -> i32 {
    depth.map_or(TB_DEPTH_UNKNOWN, Depth::raw)
}

/// A depth from a caller. Checks that the topology has it.
pub(crate) fn depth_of(topology: Topology<'_>, raw: i32) -> Result<Depth, Failure> {
    let known = Depth::from_raw(raw).filter(|depth| topology.depth_type(*depth).is_some());
    known.ok_or_else(|| {
        Failure::argument(format_args!("depth {raw}: the topology has no such level"))
    })
}
