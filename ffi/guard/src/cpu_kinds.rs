//! Kinds of CPUs that a program registers. hwloc's copies of a topology that has kinds already
//! crash then (2.9.0, docs/upstream/hwloc.md): a handle becomes what hwloc loads.

use crate::call::{Call, set_errno};
use crate::hwloc::{Object, Topology};
use crate::load::key_of;
use crate::private::replace;
use crate::state::state;
use core::ffi::{c_int, c_uint, c_ulong, c_void};
use core::ptr::null_mut;

/// Stands for `hwloc_cpukinds_register`.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn register(
    topology: Topology,
    cpuset: *const c_void,
    efficiency: c_int,
    infos: c_uint,
    list: *mut c_void,
    flags: c_ulong,
    caller: *const c_void,
) -> c_int {
    type Real =
        unsafe extern "C" fn(Topology, *const c_void, c_int, c_uint, *mut c_void, c_ulong) -> c_int;
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Real>(c"hwloc_cpukinds_register") else { return -1 };
    /// With this version, copies were seen to work.
    const MENDED: c_uint = 0x20f00;
    let is_mended = call.hwloc.version() >= MENDED;
    let is_ready = match call.is_inner() || is_mended || !call.hwloc.has_kinds(topology) {
        true => call.make_private(topology),
        false => make_loaded(&call, topology).is_some(),
    };
    if !is_ready {
        return -1;
    }
    // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
    unsafe { real(topology, cpuset, efficiency, infos, list, flags) }
}

/// Replaces a handle by what hwloc loads in its place. `None`, with `errno`, if hwloc cannot, or
/// has made a copy of it already: as with what a program has adopted, hwloc permits no kinds then.
fn make_loaded(call: &Call, topology: Topology) -> Option<()> {
    let known = state();
    let (handle, is_copy) = (known.handle(topology), known.copies.contains(&topology));
    drop(known);
    if is_copy || handle.is_some_and(|handle| !handle.is_loaded) {
        set_errno(libc::EPERM);
        return None;
    }
    if handle.is_none() {
        return Some(());
    }
    // Without the lock: plugins of hwloc may load topologies of their own.
    let own = load_again(call, topology)?;
    let mut state = state();
    let Some(handle) = state.handle(topology) else {
        // SAFETY: hwloc has made it, and no other code knows of it.
        unsafe { (call.hwloc.functions.destroy)(own) };
        return Some(());
    };
    keep_userdata(call, topology, own);
    replace(call, &mut state, handle, own);
    Some(())
}

/// Has hwloc load what was served.
fn load_again(call: &Call, topology: Topology) -> Option<Topology> {
    type OfTopology = unsafe extern "C" fn(Topology) -> c_int;
    let key = key_of(call, topology)?;
    let init =
        call.function::<unsafe extern "C" fn(*mut Topology) -> c_int>(c"hwloc_topology_init")?;
    let set_flags = call.function::<unsafe extern "C" fn(Topology, c_ulong) -> c_int>(
        c"hwloc_topology_set_flags",
    )?;
    let set_filter = call.function::<unsafe extern "C" fn(Topology, c_int, c_int) -> c_int>(
        c"hwloc_topology_set_type_filter",
    )?;
    let load = call.function::<OfTopology>(c"hwloc_topology_load")?;
    let mut own = null_mut();
    // SAFETY: it is hwloc's function, and `own` is an output.
    if unsafe { init(&raw mut own) } != 0 {
        return None;
    }
    // SAFETY: they are hwloc's functions, and `own` is initialised and not loaded yet.
    let loaded = unsafe {
        set_flags(own, key.flags);
        for (object_type, filter) in (0..).zip(key.filters) {
            set_filter(own, object_type, filter.into());
        }
        load(own)
    };
    if loaded == 0 {
        return Some(own);
    }
    // SAFETY: hwloc has made it, and no other code knows of it.
    unsafe { (call.hwloc.functions.destroy)(own) };
    None
}

/// Gives objects what the program has attached to the same ones of another topology.
fn keep_userdata(call: &Call, from: Topology, to: Topology) {
    let functions = &call.hwloc.functions;
    // SAFETY: both are loaded topologies of this hwloc.
    let (from, to) = unsafe { (functions.levels(from), functions.levels(to)) };
    let which = |object: &Object| (object.object_type, object.gp_index);
    for (from, to) in from.flatten().zip(to.flatten()) {
        // SAFETY: hwloc has returned these objects, and no other code uses them now.
        let (from, to) = unsafe { (&*from, &mut *to) };
        if which(from) == which(to) {
            to.userdata = from.userdata;
        }
    }
}
