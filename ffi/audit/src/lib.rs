//! The library that `topobroker audit` preloads into every process of a command. It replaces
//! hwloc's functions that make a topology. Each replacement calls hwloc's own function, and notes
//! who called, how long it took and how much heap it kept.
//!
//! The process itself is not disturbed: if a note cannot be written, it is left out without a
//! message. Each process has a file of notes in the folder that `TOPOBROKER_AUDIT` names, with one
//! line for each note; `note.rs` has the format.

mod caller;
mod heap;
mod loaded;
mod note;
mod real;

use note::{Event, note};
use real::real;
use std::ffi::{c_char, c_int, c_ulong, c_void};
use std::time::Instant;

/// `hwloc_topology_t`, which is only passed on.
type Topology = *mut c_void;

/// Calls hwloc and notes the call. `topology` returns the topology of the call from the call's
/// result.
fn audited(
    name: &'static str,
    library: String,
    topology: impl FnOnce(c_int) -> Topology,
    call: impl FnOnce() -> c_int,
) -> c_int {
    let heap = heap::in_use();
    let start = Instant::now();
    let result = call();
    // Keeps hwloc's errno for the caller, because writing the note may change it.
    let error = std::io::Error::last_os_error().raw_os_error();
    let (time, kept) = (start.elapsed(), heap::in_use() - heap);
    let topology = topology(result) as usize;
    note(&Event { name, library, time, kept, topology, result });
    // SAFETY: the pointer is valid, because it is that of this thread's own errno.
    unsafe { *libc::__errno_location() = error.unwrap_or(0) };
    result
}

/// The topology that a call has stored; NULL if the call failed.
fn stored(output: *const Topology, result: c_int) -> Topology {
    // SAFETY: the call succeeded, so hwloc has stored a topology in `output`.
    if result == 0 { unsafe { *output } } else { std::ptr::null_mut() }
}

/// Replaces hwloc's function: calls it and notes the call.
///
/// # Safety
///
/// The arguments must be valid for hwloc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hwloc_topology_load(topology: Topology) -> c_int {
    type Load = unsafe extern "C" fn(Topology) -> c_int;
    let library = caller::library();
    let Some(load) = real::<Load>(c"hwloc_topology_load", &library) else { return -1 };
    // SAFETY: `load` is hwloc's own function, and the caller's argument is valid for it.
    audited("load", library, |_| topology, || unsafe { load(topology) })
}

/// Replaces hwloc's function: calls it and notes the call.
///
/// # Safety
///
/// The arguments must be valid for hwloc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hwloc_topology_set_xml(topology: Topology, path: *const c_char) -> c_int {
    type SetXml = unsafe extern "C" fn(Topology, *const c_char) -> c_int;
    let library = caller::library();
    let Some(set_xml) = real::<SetXml>(c"hwloc_topology_set_xml", &library) else { return -1 };
    // SAFETY: `set_xml` is hwloc's own function, and the caller's arguments are valid for it.
    audited("set_xml", library, |_| topology, || unsafe { set_xml(topology, path) })
}

/// Replaces hwloc's function: calls it and notes the call.
///
/// # Safety
///
/// The arguments must be valid for hwloc's function.
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
    // SAFETY: `set_xml` is hwloc's own function, and the caller's arguments are valid for it.
    audited("set_xmlbuffer", library, |_| topology, || unsafe { set_xml(topology, buffer, size) })
}

/// Replaces hwloc's function: calls it and notes the call.
///
/// # Safety
///
/// The arguments must be valid for hwloc's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hwloc_topology_dup(copy: *mut Topology, topology: Topology) -> c_int {
    type Dup = unsafe extern "C" fn(*mut Topology, Topology) -> c_int;
    let library = caller::library();
    let Some(dup) = real::<Dup>(c"hwloc_topology_dup", &library) else { return -1 };
    // SAFETY: `dup` is hwloc's own function, and the caller's arguments are valid for it.
    audited("dup", library, |result| stored(copy, result), || unsafe { dup(copy, topology) })
}

/// Replaces hwloc's function: calls it and notes the call.
///
/// # Safety
///
/// The arguments must be valid for hwloc's function.
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
    // SAFETY: `adopt` is hwloc's own function, and the caller's arguments are valid for it.
    audited(
        "adopt",
        library,
        |result| stored(topology, result),
        || unsafe { adopt(topology, fd, offset, address, length, flags) },
    )
}

/// Replaces hwloc's function: calls it, and notes that the topology's heap is given back.
///
/// # Safety
///
/// The arguments must be valid for hwloc's function.
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
            // SAFETY: `destroy` is hwloc's own function, and the caller's argument is valid for it.
            unsafe { destroy(topology) };
            0
        },
    );
}
