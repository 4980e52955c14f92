//! Objects by what they are to another: above, below, near.

use crate::call::{Found, Given, call, value};
use crate::levels::depth_of;
use crate::object::{id, neighbour, object, tb_obj};
use crate::pointers::{Room, Text};
use crate::status::tb_status;
use crate::topology::{object_type, tb_topology};
use std::mem::MaybeUninit;
use topobroker_reader::Object;

/// Stores the ancestor at a depth, or TB_OBJ_NONE. Counterpart: hwloc_get_ancestor_obj_by_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_ancestor_at_depth(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    depth: i32,
    ancestor: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    call(|| {
        let (topology, ancestor) = (topology.given("topology")?.get(), ancestor.given("ancestor")?);
        let depth = depth_of(topology, depth)?;
        ancestor.write(id(object(topology, obj)?.ancestor_at_depth(depth)));
        Ok(())
    })
}

/// Stores the nearest ancestor of a type, or TB_OBJ_NONE. Counterpart:
/// hwloc_get_ancestor_obj_by_type.
#[unsafe(no_mangle)]
pub extern "C" fn tb_ancestor_with_type(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    r#type: i32,
    ancestor: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    call(|| {
        let (topology, ancestor) = (topology.given("topology")?.get(), ancestor.given("ancestor")?);
        let found = object(topology, obj)?.ancestor_with_type(object_type(r#type)?);
        ancestor.write(id(found));
        Ok(())
    })
}

/// Stores the object itself, or the nearest above it that is no I/O or Misc object. Counterpart:
/// hwloc_get_non_io_ancestor_obj.
#[unsafe(no_mangle)]
pub extern "C" fn tb_non_io_ancestor(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    ancestor: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    neighbour(topology, obj, ancestor, |object| Some(object.non_io_ancestor()))
}

/// Stores the lowest object above two, or that is one of them. Counterpart:
/// hwloc_get_common_ancestor_obj.
#[unsafe(no_mangle)]
pub extern "C" fn tb_common_ancestor(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    other: tb_obj,
    ancestor: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    call(|| {
        let (topology, ancestor) = (topology.given("topology")?.get(), ancestor.given("ancestor")?);
        let (one, other) = (object(topology, obj)?, object(topology, other)?);
        ancestor.write(one.common_ancestor(other).id());
        Ok(())
    })
}

/// Whether an object is `root` or below it; false of ids of nothing. Counterpart:
/// hwloc_obj_is_in_subtree.
#[unsafe(no_mangle)]
pub extern "C" fn tb_is_in_subtree(
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

/// Stores the lowest cache that the object shares with others, or TB_OBJ_NONE. Counterpart:
/// hwloc_get_shared_cache_covering_obj.
#[unsafe(no_mangle)]
pub extern "C" fn tb_shared_cache(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    cache: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    neighbour(topology, obj, cache, Object::shared_cache)
}

/// Stores up to `capacity` objects of the same depth, the nearest first, and in `count` (may be NULL)
/// how many there are. Counterpart: hwloc_get_closest_objs.
#[unsafe(no_mangle)]
pub extern "C" fn tb_closest(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> tb_status {
    call(|| {
        let object = object(topology.given("topology")?.get(), obj)?;
        // The rest is counted only for who wants to know.
        let most = if count.is_some() { usize::MAX } else { capacity };
        objs.fill(object.closest().take(most).map(Object::id), capacity, count)
    })
}

/// Stores the first object of a type with the same locality, and with that subtype and a name that
/// begins so unless these are NULL; or TB_OBJ_NONE. Counterpart: hwloc_get_obj_with_same_locality.
#[unsafe(no_mangle)]
pub extern "C" fn tb_with_same_locality(
    topology: Option<&tb_topology>,
    obj: tb_obj,
    r#type: i32,
    subtype: Text<'_>,
    name_prefix: Text<'_>,
    found: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    call(|| {
        let (topology, found) = (topology.given("topology")?.get(), found.given("found")?);
        let (subtype, prefix) =
            (subtype.optional("subtype")?, name_prefix.optional("name_prefix")?);
        let object = object(topology, obj)?;
        found.write(id(object.with_same_locality(object_type(r#type)?, subtype, prefix)));
        Ok(())
    })
}

/// Stores the PCI device of a bus id such as 0000:01:00.0. Counterpart: hwloc_get_pcidev_by_busidstring.
#[unsafe(no_mangle)]
pub extern "C" fn tb_pci_device(
    topology: Option<&tb_topology>,
    bus_id: Text<'_>,
    device: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    call(|| {
        let (topology, device) = (topology.given("topology")?.get(), device.given("device")?);
        let bus_id = bus_id.get("bus_id")?;
        let found = topology.pci_device_by_bus_id(bus_id);
        device.write(found.found(|| format!("no PCI device {bus_id:?}"))?.id());
        Ok(())
    })
}

/// Stores the OS device of a name such as eth0.
#[unsafe(no_mangle)]
pub extern "C" fn tb_os_device(
    topology: Option<&tb_topology>,
    name: Text<'_>,
    device: Option<&mut MaybeUninit<tb_obj>>,
) -> tb_status {
    call(|| {
        let (topology, device) = (topology.given("topology")?.get(), device.given("device")?);
        let name = name.get("name")?;
        device.write(topology.os_device(name).found(|| format!("no OS device {name:?}"))?.id());
        Ok(())
    })
}

/// Stores up to `capacity` objects of a name, and in `count` (may be NULL) how many there are.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_with_name(
    topology: Option<&tb_topology>,
    name: Text<'_>,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> tb_status {
    call(|| {
        let topology = topology.given("topology")?.get();
        let found = topology.objects_with_name(name.get("name")?);
        objs.fill(found.map(Object::id), capacity, count)
    })
}
