//! Objects inside a set of PUs, objects that cover one, and distribution of PUs over sets.

use crate::answer::answer;
use crate::call::call_with;
use crate::failure::Failure;
use crate::given::{Found, Given};
use crate::levels::depth_of;
use crate::object::{id, object, tb_obj};
use crate::pointers::{Input, List, Out, Output, Room};
use crate::set::{given_sets, store_sets, tb_set};
use crate::status::tb_status;
use crate::topology::{object_type, tb_topology};
use alloc::format;
use alloc::vec::Vec;
use topobroker_reader::{Depth, Distribution, Object};

/// Stores the lowest object that covers all PUs of a set, or TB_OBJ_NONE if the set is empty or has
/// a PU that is not in the topology. Counterpart: hwloc_get_obj_covering_cpuset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_covering(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    answer!(obj, |topology, set| id(topology.covering(set)))
}

/// Stores the lowest data or unified cache that covers all PUs of a set, or TB_OBJ_NONE.
/// Counterpart: hwloc_get_cache_covering_cpuset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_cache_covering(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    answer!(obj, |topology, set| id(topology.cache_covering(set)))
}

/// Stores the child of an object that covers all PUs of a set, or TB_OBJ_NONE. Counterpart:
/// hwloc_get_child_covering_cpuset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_child_covering(
    topology: Option<&tb_topology>,
    parent: tb_obj,
    set: Input<'_, tb_set>,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    answer!(obj, |topology, set| id(object(topology, parent)?.child_covering(set)))
}

/// Stores up to `capacity` objects of a depth that have a PU of a set in `objs`, and the number of
/// all of them in `count` (may be NULL). Counterpart: hwloc_get_next_obj_covering_cpuset_by_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_covering(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    depth: i32,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(objs(capacity, count), |topology, set| {
        let depth = depth_of(topology, depth)?;
        topology.objects_covering(set, depth).map(Object::id)
    })
}

/// Stores up to `capacity` objects of a depth whose PUs are all in a set in `objs`, and the number
/// of all of them in `count` (may be NULL). Objects without PUs are inside no set. Counterpart:
/// hwloc_get_next_obj_inside_cpuset_by_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_inside(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    depth: i32,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(objs(capacity, count), |topology, set| {
        let inside = topology.inside(set);
        let found = inside.objects_at_depth(depth_of(topology, depth)?);
        found.map(Object::id)
    })
}

/// Stores the number of objects of a depth whose PUs are all in a set. Counterpart:
/// hwloc_get_nbobjs_inside_cpuset_by_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_inside_count(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    depth: i32,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(count, |topology, set| topology.inside(set).count_at_depth(depth_of(topology, depth)?))
}

/// Stores the number of objects of a type, at all depths, whose PUs are all in a set. Counterpart:
/// hwloc_get_nbobjs_inside_cpuset_by_type.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_inside_count_with_type(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    r#type: i32,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(count, |topology, set| topology.inside(set).count_with_type(object_type(r#type)?))
}

/// Stores the object at a position, from 0, among the objects of a depth whose PUs are all in a
/// set. TB_ERR_NOT_FOUND after the last. Counterpart: hwloc_get_obj_inside_cpuset_by_depth.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_inside(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    depth: i32,
    index: usize,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    answer!(obj, |topology, set| {
        let found = topology.inside(set).object_at_depth(depth_of(topology, depth)?, index);
        found.found(|| format!("no object {index} of depth {depth} inside"))?.id()
    })
}

/// Stores the position of an object among the objects of its depth whose PUs are all in a set.
/// TB_ERR_NOT_FOUND if the object is not one of them. Counterpart:
/// hwloc_get_obj_index_inside_cpuset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_index_inside(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    obj: tb_obj,
    index: Out<'_, usize>,
) -> tb_status {
    answer!(index, |topology, set| {
        let found = topology.inside(set).index_of(object(topology, obj)?);
        found.found(|| format!("object {obj} is not inside"))?
    })
}

/// Stores up to `capacity` of the largest objects inside a set in `objs`, and the number of all of
/// them in `count` (may be NULL). Together they have exactly the PUs of the set that are in the
/// topology. Counterpart: hwloc_get_largest_objs_inside_cpuset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_largest_inside(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    objs: Room<'_, tb_obj>,
    capacity: usize,
    count: Out<'_, usize>,
) -> tb_status {
    answer!(objs(capacity, count), |topology, set| topology.inside(set).largest().map(Object::id))
}

/// Stores the first of the largest objects inside a set, or TB_OBJ_NONE. Counterpart:
/// hwloc_get_first_largest_obj_inside_cpuset.
#[unsafe(no_mangle)]
pub extern "C" fn tb_obj_first_largest_inside(
    topology: Option<&tb_topology>,
    set: Input<'_, tb_set>,
    obj: Out<'_, tb_obj>,
) -> tb_status {
    answer!(obj, |topology, set| id(topology.inside(set).first_largest()))
}

/// Distributes the PUs of `root_count` objects over `count` sets, so that software threads bound to
/// the sets are far from each other. Objects at the depth `until` are not divided; INT32_MAX
/// divides down to the PUs. If `reverse`, the last objects come first. No set may be
/// NULL. Counterpart: hwloc_distrib.
#[unsafe(no_mangle)]
pub extern "C" fn tb_objs_distribute(
    topology: Option<&tb_topology>,
    roots: List<'_, tb_obj>,
    root_count: usize,
    until: i32,
    reverse: bool,
    sets: List<'_, Output<'_, tb_set>>,
    count: usize,
) -> tb_status {
    call_with(|handles| {
        let topology = topology.given("topology")?.get();
        let roots = roots.get(root_count, "roots")?.iter().map(|root| object(topology, *root));
        let roots = roots.collect::<Result<Vec<_>, Failure>>()?;
        let sets = given_sets(handles, sets, count)?;
        let until = Depth::from_raw(until).filter(|_| until != i32::MAX);
        store_sets(
            handles,
            sets,
            topology.distribute(&roots, count, Distribution { until, reverse }),
        )
    })
}

/// Keeps one PU of each core in `set`: of the PUs of the core that are in `set`, the one at
/// position `index`, from 0, by OS index. If a core has fewer in `set`, all of its PUs are removed.
/// Counterpart: hwloc_bitmap_singlify_per_core.
#[unsafe(no_mangle)]
pub extern "C" fn tb_set_singlify_per_core(
    topology: Option<&tb_topology>,
    set: Output<'_, tb_set>,
    index: usize,
) -> tb_status {
    call_with(|handles| {
        let topology = topology.given("topology")?.get();
        topology.singlify_per_core(&mut set.given(handles, "set")?.0, index);
        Ok(())
    })
}
