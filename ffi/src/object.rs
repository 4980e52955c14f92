//! One object and its neighbours.

use crate::answer::answer;
use crate::call::{call, call_with};
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::pointers::{Buffer, Out, Output, Room, Text};
use crate::set::tb_set;
use crate::status::tb_status;
use crate::structs::Struct;
use crate::topology::tb_topology;
use alloc::format;
use alloc::string::String;
use core::ffi::c_char;
use topobroker_layout::object_type::ChildKind;
use topobroker_reader::{Object, Topology};

/// An object: its number in the topology. It is the same in every process that has adopted the
/// segment and in every view in which the object is visible. The root is 0.
pub type tb_obj = u32;

/// No object, such as the parent of the root.
pub const TB_OBJ_NONE: tb_obj = u32::MAX;

/// An OS index that the operating system did not give. Counterpart: HWLOC_UNKNOWN_INDEX.
pub const TB_UNKNOWN_INDEX: u32 = u32::MAX;

/// Lists of the children of an object.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
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

/// Properties of an object. Counterpart: struct hwloc_obj. Its texts are in the segment and stay
/// valid for the life of the process; NULL means that there is none.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct tb_obj_data {
    /// A tb_type.
    pub r#type: i32,
    /// Depth; negative for memory, I/O and Misc objects.
    pub depth: i32,
    /// Position among the objects of its depth, from 0.
    pub logical_index: u32,
    /// OS index; TB_UNKNOWN_INDEX if there is none.
    pub os_index: u32,
    /// Number that no other object of the topology has.
    pub gp_index: u64,
    /// Memory of the NUMA nodes below, in bytes; for a NUMA node, its own memory.
    pub total_memory: u64,
    /// Parent; TB_OBJ_NONE for the root.
    pub parent: tb_obj,
    /// Position among the children of its parent in the same list, from 0.
    pub sibling_rank: u32,
    /// Number of normal children.
    pub arity: u32,
    /// Number of memory children.
    pub memory_arity: u32,
    /// Number of I/O children.
    pub io_arity: u32,
    /// Number of Misc children.
    pub misc_arity: u32,
    /// Number of infos; see tb_obj_info.
    pub infos: u32,
    /// Whether all subtrees below the object have the same shape.
    pub symmetric_subtree: bool,
    /// Name, or NULL.
    pub name: *const c_char,
    /// Subtype, or NULL.
    pub subtype: *const c_char,
}

/// The object with a number, if it is visible in the topology.
pub(crate) fn object(topology: Topology<'_>, obj: tb_obj) -> Result<Object<'_>, Failure> {
    topology.object(obj).ok_or_else(|| no_object(topology, obj))
}

#[cold]
fn no_object(topology: Topology<'_>, obj: tb_obj) -> Failure {
    let count = topology.object_count();
    Failure::argument(format_args!("object {obj}: the topology has only {count} objects"))
}

/// Number of an object; TB_OBJ_NONE for `None`.
pub(crate) fn id(object: Option<Object<'_>>) -> tb_obj {
    object.map_or(TB_OBJ_NONE, Object::id)
}

/// A text of an archive as a C string. Every text of an archive has a zero after it; only the empty
/// text may be elsewhere.
pub(crate) fn text_of(text: Option<&str>) -> *const c_char {
    match text {
        None => core::ptr::null(),
        Some("") => c"".as_ptr(),
        Some(text) => text.as_ptr().cast(),
    }
}

/// Stores the properties of an object.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_get(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    data: Struct<'_, tb_obj_data>,
    data_size: usize,
) -> tb_status {
    answer!(data(data_size), |topology| {
        let object = object(topology, obj)?;
        let count = |kind| u32::try_from(object.children_of_kind(kind).len()).unwrap_or(u32::MAX);
        tb_obj_data {
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
            name: text_of(object.name()),
            subtype: text_of(object.subtype()),
        }
    })
}

/// Stores up to `capacity` children of an object in `objs`, and the number of all of them in
/// `count` (may be NULL). `kind` is a tb_child_kind. Counterparts: first_child, memory_first_child,
/// io_first_child, misc_first_child.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_children(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    kind: i32,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(objs(capacity, count), |topology| {
        let object = object(topology, obj)?;
        let kind = match kind {
            0 => ChildKind::Normal,
            1 => ChildKind::Memory,
            2 => ChildKind::Io,
            3 => ChildKind::Misc,
            other => return Err(Failure::argument(format_args!("kind of children {other}"))),
        };
        object.children_of_kind(kind).map(Object::id)
    })
}

/// Stores the parent of an object; TB_OBJ_NONE for the root. Counterpart: parent.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_parent(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    parent: Out<'_, tb_obj>,
) -> tb_status {
    neighbour(topology, obj, parent, Object::parent)
}

/// Stores the next object of the same depth, or TB_OBJ_NONE. Counterpart: next_cousin.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_next_cousin(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    next: Out<'_, tb_obj>,
) -> tb_status {
    neighbour(topology, obj, next, Object::next_cousin)
}

/// Stores the previous object of the same depth, or TB_OBJ_NONE. Counterpart: prev_cousin.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_prev_cousin(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    previous: Out<'_, tb_obj>,
) -> tb_status {
    neighbour(topology, obj, previous, Object::prev_cousin)
}

/// Stores the next child in the same list, or TB_OBJ_NONE. Counterpart: next_sibling.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_next_sibling(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    next: Out<'_, tb_obj>,
) -> tb_status {
    neighbour(topology, obj, next, Object::next_sibling)
}

/// Stores the previous child in the same list, or TB_OBJ_NONE. Counterpart: prev_sibling.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_prev_sibling(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    previous: Out<'_, tb_obj>,
) -> tb_status {
    neighbour(topology, obj, previous, Object::prev_sibling)
}

/// Stores the object that `find` returns for an object, or TB_OBJ_NONE.
pub(crate) fn neighbour<'t>(
    topology: Option<&'t tb_topology>,
    obj: tb_obj,
    found: Out<'_, tb_obj>,
    find: impl FnOnce(Object<'t>) -> Option<Object<'t>>,
) -> tb_status {
    call(|| {
        let (topology, found) = (topology.given("topology")?, found.given("the object to store")?);
        found.write(id(find(object(topology.get(), obj)?)));
        Ok(())
    })
}

/// The four sets of an object.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum tb_which_set {
    /// PUs that are in the topology. Counterpart: cpuset.
    TB_CPUSET = 0,
    /// All PUs, also those that are not in the topology. Counterpart: complete_cpuset.
    TB_COMPLETE_CPUSET = 1,
    /// NUMA nodes that are in the topology. Counterpart: nodeset.
    TB_NODESET = 2,
    /// All NUMA nodes, also those that are not in the topology. Counterpart: complete_nodeset.
    TB_COMPLETE_NODESET = 3,
}

/// Makes `set` a copy of a set of an object. `which` is a tb_which_set. I/O and Misc objects have
/// no sets: `set` becomes empty, and the status is TB_ERR_NOT_FOUND.
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
            other => {
                return Err(Failure::argument(format_args!("which set: {other}, expected 0 to 3")));
            }
        };
        there.then_some(()).found(|| format!("object {obj} is of a type without sets"))
    })
}

/// Stores the name and the value of an info of an object. `index` is from 0 to one less than
/// tb_obj_data.infos. The texts are in the segment. Counterpart: infos.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_info(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    index: u32,
    name: Out<'_, *const c_char>,
    value: Out<'_, *const c_char>,
) -> tb_status {
    call(|| {
        let topology = topology.given("topology")?;
        let (name, value) = (name.given("name")?, value.given("value")?);
        let info = object(topology.get(), obj)?.infos().nth(index as usize);
        let info = info.found(|| format!("object {obj} has no info {index}"))?;
        name.write(text_of(Some(info.name)));
        value.write(text_of(Some(info.value)));
        Ok(())
    })
}

/// Stores the value of the first info of an object with a name. TB_ERR_NOT_FOUND if there is none.
/// Counterpart: hwloc_obj_get_info_by_name.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_info_by_name(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    name: Text<'_>,
    value: Out<'_, *const c_char>,
) -> tb_status {
    answer!(value, |topology, name| {
        let found = object(topology, obj)?.info(name);
        let found = found.found(|| none_named(obj, "info", name))?;
        text_of(Some(found))
    })
}

/// Says that an object has no text with a name.
pub(crate) fn none_named(obj: tb_obj, what: &str, name: &str) -> String {
    format!("object {obj} has no {what} {name:?}")
}

/// Writes the name of the type of an object with a zero at its end: a short name, such as L2 or
/// GPU, or a long name, such as L2Cache, if `verbose`. `length` (may be NULL) is set to the bytes
/// of the text without the zero, also with TB_ERR_TRUNCATED. Counterpart: hwloc_obj_type_snprintf.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_type_name(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    verbose: bool,
    buffer: Buffer<'_>,
    size: usize,
    length: Out<'_, usize>,
) -> tb_status {
    answer!(buffer(size, length), |topology| {
        let object = object(topology, obj)?;
        object.type_name(verbose)
    })
}
