//! Objects by their relation to another object: above it, near it, at the same place; and devices
//! by name.

use crate::answer::answer;
use crate::call::{call, value};
use crate::given::{Found, Given};
use crate::levels::depth_of;
use crate::object::{id, neighbour, object, tb_obj};
use crate::pointers::{Out, Room, Text};
use crate::status::tb_status;
use crate::topology::{object_type, tb_topology};
use alloc::format;
use topobroker_reader::Object;

/// Stores the object itself or its ancestor at a depth, or TB_OBJ_NONE. If its branch of the tree
/// has no object at that depth, the next object above it is stored. TB_ERR_ARGUMENT if the topology
/// has no such depth. Counterpart: hwloc_get_ancestor_obj_by_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_ancestor_at_depth(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    depth: i32,
    ancestor: Out<'_, tb_obj>,
) -> tb_status {
    answer!(ancestor, |topology| {
        let depth = depth_of(topology, depth)?;
        id(object(topology, obj)?.ancestor_at_depth(depth))
    })
}

/// Stores the closest ancestor of a type, or TB_OBJ_NONE. Counterpart:
/// hwloc_get_ancestor_obj_by_type.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_ancestor_with_type(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    r#type: i32,
    ancestor: Out<'_, tb_obj>,
) -> tb_status {
    answer!(ancestor, |topology| {
        let found = object(topology, obj)?.ancestor_with_type(object_type(r#type)?);
        id(found)
    })
}

/// Stores the object itself, or for an I/O or Misc object its closest ancestor that is neither.
/// Counterpart: hwloc_get_non_io_ancestor_obj.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_non_io_ancestor(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    ancestor: Out<'_, tb_obj>,
) -> tb_status {
    neighbour(topology, obj, ancestor, |object| Some(object.non_io_ancestor()))
}

/// Stores the lowest common ancestor of two objects. If one of them is the other, or an ancestor of
/// the other, that object is stored. Counterpart: hwloc_get_common_ancestor_obj.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_common_ancestor(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    other: tb_obj,
    ancestor: Out<'_, tb_obj>,
) -> tb_status {
    answer!(ancestor, |topology| {
        let one = object(topology, obj)?;
        let other = object(topology, other)?;
        one.common_ancestor(other).id()
    })
}

/// Whether all PUs of an object are PUs of `root`: whether it is at the same place as `root`, or
/// below it. False for I/O and Misc objects, for numbers that no object has, and if `topology` is
/// NULL. Counterpart: hwloc_obj_is_in_subtree.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_is_in_subtree(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    root: tb_obj,
) -> bool {
    value(false, || {
        let both = topology.and_then(|topology| {
            let topology = topology.get();
            topology.object(obj).zip(topology.object(root))
        });
        both.is_some_and(|(object, root)| object.is_in_subtree(root))
    })
}

/// Stores the closest data or unified cache above an object that has other PUs too, or TB_OBJ_NONE.
/// Counterpart: hwloc_get_shared_cache_covering_obj.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_shared_cache(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    cache: Out<'_, tb_obj>,
) -> tb_status {
    neighbour(topology, obj, cache, Object::shared_cache)
}

/// Stores up to `capacity` other objects of the same depth in `objs`, the nearest first, and the
/// number of all of them in `count` (may be NULL; then an array that is too short is no error).
/// Memory, I/O and Misc objects have none. Counterpart: hwloc_get_closest_objs.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_closest(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    call(|| {
        let object = object(topology.given("topology")?.get(), obj)?;
        // Without `count`, the objects past the capacity need not be visited.
        let most = if count.is_there() { usize::MAX } else { capacity };
        objs.fill(object.closest().take(most).map(Object::id), capacity, count)
    })
}

/// Stores the first object of a type at the same place, or TB_OBJ_NONE: an object with the same
/// cpuset and nodeset, or in the same PCI device. If `subtype` is not NULL, the object must have
/// that subtype. If `name_prefix` is not NULL, its name must begin with that. Case does not matter.
/// Counterpart: hwloc_get_obj_with_same_locality.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_with_same_locality(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    r#type: i32,
    subtype: Text<'_>,
    name_prefix: Text<'_>,
    found: Out<'_, tb_obj>,
) -> tb_status {
    answer!(found, |topology| {
        let subtype = subtype.optional("subtype")?;
        let prefix = name_prefix.optional("name_prefix")?;
        let object = object(topology, obj)?;
        id(object.with_same_locality(object_type(r#type)?, subtype, prefix))
    })
}

/// Stores the PCI device with a bus id such as 0000:01:00.0 or, in domain 0, 01:00.0.
/// TB_ERR_NOT_FOUND if there is none. Counterpart: hwloc_get_pcidev_by_busidstring.
#[unsafe(no_mangle)]
pub extern "C" fn tb_device_by_bus_id(
    topology: Option<&tb_topology>,
    bus_id: Text<'_>,
    device: Out<'_, tb_obj>,
) -> tb_status {
    answer!(device, |topology, bus_id| {
        let found = topology.pci_device_by_bus_id(bus_id);
        found.found(|| format!("no PCI device {bus_id:?}"))?.id()
    })
}

/// Stores the OS device with a name such as eth0. TB_ERR_NOT_FOUND if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn tb_device_by_name(
    topology: Option<&tb_topology>,
    name: Text<'_>,
    device: Out<'_, tb_obj>,
) -> tb_status {
    answer!(device, |topology, name| topology
        .os_device(name)
        .found(|| format!("no OS device {name:?}"))?
        .id())
}

/// Stores up to `capacity` objects with a name in `objs`, and the number of all of them in `count`
/// (may be NULL).
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_with_name(
    topology: Option<&tb_topology>,
    name: Text<'_>,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(objs(capacity, count), |topology, name| {
        let found = topology.objects_with_name(name);
        found.map(Object::id)
    })
}
