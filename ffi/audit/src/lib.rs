//! Preloaded into every process of a command by `topobroker audit`: stands before hwloc's functions that
//! make a topology, calls them, and notes who called, how long it took and how much heap it kept.
//!
//! Nothing is said to the process itself: where something cannot be noted, it is not. Notes are lines in a
//! file for each process, in the folder that `TOPOBROKER_AUDIT` names; the format is in
//! `note.rs`.

mod caller;
mod heap;
mod loaded;
mod note;
mod real;

use note::{Event, note};
use real::real;
use std::ffi::{c_char, c_int, c_ulong, c_void};
use std::time::Instant;

/// `hwloc_topology_t`, which is only handed on.
type Topology = *mut c_void;

/// Calls hwloc and notes the call; `topology` tells which topology it was about, from its result.
fn audited(
    name: &'static str,
    library: String,
    topology: impl FnOnce(c_int) -> Topology,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let heap = heap::in_use();
    let start = Instant::now();
    let result = call();
    // What hwloc says of a failure is for its caller.
    let error = std::io::Error::last_os_error().raw_os_error();
    let (time, kept) = (start.elapsed(), heap::in_use() - heap);
    let topology = topology(result) as usize;
    note(&Event { name, library, time, kept, topology, result });
    // SAFETY: where this thread has its errno.
    unsafe { *libc::__errno_location() = error.unwrap_or(0) };
    result
}

/// What a call has stored, if it succeeded.
fn stored(output: *const Topology, result: c_int) -> Topology {
    // SAFETY: hwloc has stored a topology there.
    if result == 0 { unsafe { *output } } else { std::ptr::null_mut() }
}

/// Stands before hwloc's function.
///
/// # Safety
///
/// As hwloc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hwloc_topology_load(topology: Topology) -> c_int {
    type Load = unsafe extern "C" fn(Topology) -> c_int;
    let library = caller::library();
    let Some(load) = real::<Load>(c"hwloc_topology_load", &library) else { return -1 };
    // SAFETY: hwloc's own function with the caller's own argument.
    audited("load", library, |_| topology, || unsafe { load(topology) })
}

/// Stands before hwloc's function.
///
/// # Safety
///
/// As hwloc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hwloc_topology_set_xml(topology: Topology, path: *const c_char) -> c_int {
    type SetXml = unsafe extern "C" fn(Topology, *const c_char) -> c_int;
    let library = caller::library();
    let Some(set_xml) = real::<SetXml>(c"hwloc_topology_set_xml", &library) else { return -1 };
    // SAFETY: hwloc's own function with the caller's own arguments.
    audited("set_xml", library, |_| topology, || unsafe { set_xml(topology, path) })
}

/// Stands before hwloc's function.
///
/// # Safety
///
/// As hwloc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hwloc_topology_set_xmlbuffer(
    topology: Topology,
    buffer: *const c_char,
    size: c_int,
) -> c_int {
    type SetXml = unsafe extern "C" fn(Topology, *const c_char, c_int) -> c_int;
    let library = caller::library();
    let Some(set_xml) = real::<SetXml>(c"hwloc_topology_set_xmlbuffer", &library) else {
        return -1;
    };
    // SAFETY: hwloc's own function with the caller's own arguments.
    audited("set_xmlbuffer", library, |_| topology, || unsafe { set_xml(topology, buffer, size) })
}

/// Stands before hwloc's function.
///
/// # Safety
///
/// As hwloc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hwloc_topology_dup(copy: *mut Topology, topology: Topology) -> c_int {
    type Dup = unsafe extern "C" fn(*mut Topology, Topology) -> c_int;
    let library = caller::library();
    let Some(dup) = real::<Dup>(c"hwloc_topology_dup", &library) else { return -1 };
    // SAFETY: hwloc's own function with the caller's own arguments.
    audited("dup", library, |result| stored(copy, result), || unsafe { dup(copy, topology) })
}

/// Stands before hwloc's function.
///
/// # Safety
///
/// As hwloc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hwloc_shmem_topology_adopt(
    topology: *mut Topology,
    fd: c_int,
    offset: u64,
    address: *mut c_void,
    length: usize,
    flags: c_ulong,
) -> c_int {
    type Adopt =
        unsafe extern "C" fn(*mut Topology, c_int, u64, *mut c_void, usize, c_ulong) -> c_int;
    let library = caller::library();
    let Some(adopt) = real::<Adopt>(c"hwloc_shmem_topology_adopt", &library) else { return -1 };
    // SAFETY: hwloc's own function with the caller's own arguments.
    audited(
        "adopt",
        library,
        |result| stored(topology, result),
        || unsafe { adopt(topology, fd, offset, address, length, flags) },
    )
}

/// Stands before hwloc's function: what was kept is given back.
///
/// # Safety
///
/// As hwloc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hwloc_topology_destroy(topology: Topology) {
    type Destroy = unsafe extern "C" fn(Topology);
    let library = caller::library();
    let Some(destroy) = real::<Destroy>(c"hwloc_topology_destroy", &library) else { return };
    audited(
        "destroy",
        library,
        |_| topology,
        || {
            // SAFETY: hwloc's own function with the caller's own argument.
            unsafe { destroy(topology) };
            0
        },
    );
}
