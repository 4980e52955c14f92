//! One object and its neighbours.

use crate::call::{Failure, Found, Given, call, call_with};
use crate::pointers::{Buffer, Output, Room, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::topology::tb_topology;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use topobroker_reader::layout::object_type::ChildKind;
use topobroker_reader::{Adopted, Object, Topology};

/// An object: its number in the topology, the same in every process that has adopted the segment
/// and in every view that shows it. The root is 0.
pub type tb_obj = u32;

/// No object: the parent of the root, and what is not there.
pub const TB_OBJ_NONE: tb_obj = u32::MAX;

/// An OS index that the operating system did not give. Counterpart: HWLOC_UNKNOWN_INDEX.
pub const TB_UNKNOWN_INDEX: u32 = u32::MAX;

/// Lists of children.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum tb_child_kind {
    /// The tree of CPUs.
    TB_CHILDREN_NORMAL = 0,
    /// NUMA nodes and memory-side caches.
    TB_CHILDREN_MEMORY = 1,
    /// Bridges, PCI and OS devices.
    TB_CHILDREN_IO = 2,
    /// Misc objects.
    TB_CHILDREN_MISC = 3,
}

/// What an object is. Counterpart: struct hwloc_obj. Texts are in the segment, for the life of the
/// process; NULL if there is none.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_obj_data {
    /// A tb_type.
    pub r#type: i32,
    /// Depth, negative of memory, I/O and Misc objects.
    pub depth: i32,
    /// Place among the objects of its depth.
    pub logical_index: u32,
    /// TB_UNKNOWN_INDEX if there is none.
    pub os_index: u32,
    /// Number that no other object of the topology has.
    pub gp_index: u64,
    /// Memory of the NUMA nodes below, in bytes.
    pub total_memory: u64,
    /// TB_OBJ_NONE of the root.
    pub parent: tb_obj,
    /// Place among the children of its parent in the same list.
    pub sibling_rank: u32,
    /// Number of normal children.
    pub arity: u32,
    /// Number of memory children.
    pub memory_arity: u32,
    /// Number of I/O children.
    pub io_arity: u32,
    /// Number of Misc children.
    pub misc_arity: u32,
    /// Number of infos, see tb_obj_info.
    pub infos: u32,
    /// Whether all subtrees below are alike.
    pub symmetric_subtree: bool,
    /// Name.
    pub name: *const c_char,
    /// Subtype.
    pub subtype: *const c_char,
}

/// The object with a number, if the topology shows it.
pub(crate) fn object(topology: Topology<'_>, obj: tb_obj) -> Result<Object<'_>, Failure> {
    let found = topology.object(obj);
    found.ok_or_else(|| {
        let count = topology.object_count();
        Failure::argument(format!("object {obj}: is none of the {count} of the topology"))
    })
}

/// Number of an object, TB_OBJ_NONE of none.
pub(crate) fn id(object: Option<Object<'_>>) -> tb_obj {
    object.map_or(TB_OBJ_NONE, Object::id)
}

/// A text of the segment as C has it: the zero behind it is in the segment too.
pub(crate) fn text_of(adopted: &'static Adopted, text: Option<&str>) -> *const c_char {
    let Some(text) = text else { return std::ptr::null() };
    let start = text.as_ptr() as usize;
    let end = start.checked_sub(adopted.bytes().as_ptr() as usize).map(|at| at + text.len());
    match end.and_then(|end| adopted.bytes().get(end)) {
        Some(0) => text.as_ptr().cast(),
        // The empty text, which may be anywhere.
        _ => c"".as_ptr(),
    }
}

/// Stores what an object is.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_get(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    data: Option<&mut MaybeUninit<tb_obj_data>>,
) -> tb_status {
    call(|| {
        let (topology, data) = (topology.given("topology")?, data.given("data")?);
        let object = object(topology.get(), obj)?;
        let count = |kind| u32::try_from(object.children_of_kind(kind).len()).unwrap_or(u32::MAX);
        data.write(tb_obj_data {
            r#type: object.object_type().raw().into(),
            depth: object.depth().raw(),
            logical_index: object.logical_index(),
            os_index: object.os_index().unwrap_or(TB_UNKNOWN_INDEX),
            gp_index: object.gp_index(),
            total_memory: object.total_memory(),
            parent: id(object.parent()),
            sibling_rank: object.sibling_rank(),
            arity: count(ChildKind::Normal),
            memory_arity: count(ChildKind::Memory),
            io_arity: count(ChildKind::Io),
            misc_arity: count(ChildKind::Misc),
            infos: u32::try_from(object.infos().len()).unwrap_or(u32::MAX),
            symmetric_subtree: object.is_symmetric_subtree(),
            name: text_of(topology.adopted(), object.name()),
            subtype: text_of(topology.adopted(), object.subtype()),
        });
        Ok(())
    })
}

/// Stores up to `capacity` children of a tb_child_kind in `objs`, and their number in `count` (may be
/// NULL). Counterparts: first_child, memory_first_child, io_first_child, misc_first_child.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_children(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    kind: i32,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> tb_status {
    call(|| {
        let object = object(topology.given("topology")?.get(), obj)?;
        let kind = match kind {
            0 => ChildKind::Normal,
            1 => ChildKind::Memory,
            2 => ChildKind::Io,
            3 => ChildKind::Misc,
            other => return Err(Failure::argument(format!("kind of children {other}"))),
        };
        objs.fill(object.children_of_kind(kind).map(Object::id), capacity, count)
    })
}

/// Stores the parent; TB_OBJ_NONE of the root.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_parent(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    parent: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    neighbour(topology, obj, parent, Object::parent)
}

/// Stores the next object of the same depth, or TB_OBJ_NONE. Counterpart: next_cousin.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_next_cousin(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    next: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    neighbour(topology, obj, next, Object::next_cousin)
}

/// Stores the object before of the same depth, or TB_OBJ_NONE. Counterpart: prev_cousin.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_prev_cousin(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    previous: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    neighbour(topology, obj, previous, Object::prev_cousin)
}

/// Stores the next child in the same list, or TB_OBJ_NONE. Counterpart: next_sibling.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_next_sibling(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    next: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    neighbour(topology, obj, next, Object::next_sibling)
}

/// Stores the child before in the same list, or TB_OBJ_NONE. Counterpart: prev_sibling.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_prev_sibling(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    previous: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    neighbour(topology, obj, previous, Object::prev_sibling)
}

/// Stores the object that `find` leads to, or TB_OBJ_NONE.
pub(crate) fn neighbour<'t>(
    topology: Option<&'t tb_topology>,
    obj: tb_obj,
    found: Option<&mut MaybeUninit<tb_obj>>,
    find: impl FnOnce(Object<'t>) -> Option<Object<'t>>,
) -> tb_status {
    call(|| {
        let (topology, found) = (topology.given("topology")?, found.given("the object to store")?);
        found.write(id(find(object(topology.get(), obj)?)));
        Ok(())
    })
}

/// Which set of an object.
#[derive(Debug, Clone, Copy)]
#[repr(i32)]
pub enum tb_which_set {
    /// PUs. Counterpart: cpuset.
    TB_CPUSET = 0,
    /// PUs, also those that may not be used. Counterpart: complete_cpuset.
    TB_COMPLETE_CPUSET = 1,
    /// NUMA nodes. Counterpart: nodeset.
    TB_NODESET = 2,
    /// NUMA nodes, also those that may not be used. Counterpart: complete_nodeset.
    TB_COMPLETE_NODESET = 3,
}

/// Copies a set of an object, a tb_which_set. TB_ERR_NOT_FOUND of I/O and Misc objects, which have
/// none.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_set(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    which: i32,
    set: Output<'_, tb_set>,
) -> tb_status {
    call_with(|handles| {
        let object = object(topology.given("topology")?.get(), obj)?;
        let set = &mut set.given(handles, "set")?.0;
        let there = match which {
            0 => object.copy_cpuset(set),
            1 => object.copy_complete_cpuset(set),
            2 => object.copy_nodeset(set),
            3 => object.copy_complete_nodeset(set),
            other => return Err(Failure::argument(format!("which set: {other}, expected 0 to 3"))),
        };
        there.then_some(()).found(|| format!("object {obj} is of a type without sets"))
    })
}

/// Stores name and value of an info of an object, from 0 to one less than tb_obj_data.infos. The
/// texts are in the segment. Counterpart: infos.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_info(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    index: u32,
    name: Option<&mut MaybeUninit<*const c_char>>,
    value: Option<&mut MaybeUninit<*const c_char>>,
) -> tb_status {
    call(|| {
        let topology = topology.given("topology")?;
        let (name, value) = (name.given("name")?, value.given("value")?);
        let info = object(topology.get(), obj)?.infos().nth(index as usize);
        let info = info.found(|| format!("object {obj} has no info {index}"))?;
        name.write(text_of(topology.adopted(), Some(info.name)));
        value.write(text_of(topology.adopted(), Some(info.value)));
        Ok(())
    })
}

/// Stores the value of the first info of an object with a name. Counterpart:
/// hwloc_obj_get_info_by_name.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_info_by_name(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    name: Text<'_>,
    value: Option<&mut MaybeUninit<*const c_char>>,
) -> tb_status {
    call(|| {
        let (topology, value) = (topology.given("topology")?, value.given("value")?);
        let name = name.get("name")?;
        let found = object(topology.get(), obj)?.info(name);
        let found = found.found(|| format!("object {obj} has no info {name:?}"))?;
        value.write(text_of(topology.adopted(), Some(found)));
        Ok(())
    })
}

/// Writes the name of the type of an object, such as L2 or GPU; the long one, such as L2Cache,
/// if `verbose`. Counterpart: hwloc_obj_type_snprintf.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_type_name(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    verbose: bool,
    buffer: Buffer<'_>,
    size: usize,
    length: Option<&mut MaybeUninit<usize>>,
) -> tb_status {
    call(|| {
        let object = object(topology.given("topology")?.get(), obj)?;
        buffer.fill(&object.type_name(verbose), size, length)
    })
}
