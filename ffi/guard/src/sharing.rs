//! Adopting and copying: one mapping of a segment, however many handles there are.

use crate::call::{Call, errno, set_errno, stored};
use crate::hwloc::Topology;
use crate::note::noted;
use crate::say::say;
use crate::segment::{Adopt, Mapped, Where};
use crate::state::state;
use core::ffi::{c_int, c_ulong, c_void};

/// Stands for `hwloc_shmem_topology_adopt`: a segment that is mapped already gives another handle.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn adopt(
    topology: *mut Topology,
    file: c_int,
    offset: u64,
    address: *mut c_void,
    length: usize,
    flags: c_ulong,
    caller: *const c_void,
) -> c_int {
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Adopt>(c"hwloc_shmem_topology_adopt") else { return -1 };
    let of = |result| stored(topology, result);
    noted(&call, "adopt", of, || {
        if !call.is_guarded() || flags != 0 {
            // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
            return unsafe { real(topology, file, offset, address, length, flags) };
        }
        let place = Where { file, offset, address, length };
        let mut state = state();
        // SAFETY: it is hwloc's function, and the caller believes what is in the file.
        let found = match unsafe { state.map(&call.hwloc, real, place) } {
            Some(Mapped::Shared(segment)) => state.new_handle(&call.hwloc, segment),
            Some(Mapped::Plain(topology)) => Some(topology),
            None => None,
        };
        let error = errno();
        say!(
            "adopt at {address:p} by {}: {}",
            call.by.name(),
            match found {
                Some(_) => "shared",
                None => "hwloc cannot",
            }
        );
        set_errno(error);
        let Some(found) = found else { return -1 };
        // SAFETY: the caller's output is valid.
        unsafe { *topology = found };
        0
    })
}

/// Stands for `hwloc_shmem_topology_write`, and keeps the address range free. hwloc unmaps it after
/// writing. A PMIx server may then map its own data there, which its clients map too, and no client
/// can adopt.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn write(
    topology: Topology,
    file: c_int,
    offset: u64,
    address: *mut c_void,
    length: usize,
    flags: c_ulong,
    caller: *const c_void,
) -> c_int {
    type Write = unsafe extern "C" fn(Topology, c_int, u64, *mut c_void, usize, c_ulong) -> c_int;
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Write>(c"hwloc_shmem_topology_write") else { return -1 };
    let mut state = call.is_guarded().then(state);
    if let Some(state) = &mut state {
        state.make_room(address, length);
    }
    // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
    let result = unsafe { real(topology, file, offset, address, length, flags) };
    let Some(state) = state.as_mut().filter(|_| result == 0) else { return result };
    state.segments.reserve(address, length);
    say!("write at {address:p} by {}: the addresses are kept free", call.by.name());
    result
}

/// Libraries whose copies of an adopted topology are shared: they never write to the objects.
const READERS: [&str; 1] = ["libpmix"];

/// Stands for `hwloc_topology_dup`: if libpmix copies a topology in a segment, it gets another
/// handle.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn dup(
    copy: *mut Topology,
    topology: Topology,
    caller: *const c_void,
) -> c_int {
    let Some(call) = Call::from(caller) else { return -1 };
    noted(
        &call,
        "dup",
        |result| stored(copy, result),
        || {
            let is_reader = READERS.into_iter().any(|name| call.by.name().starts_with(name));
            if call.is_guarded() && is_reader {
                let mut state = state();
                let handle = state.handle(topology);
                if let Some(shared) =
                    handle.and_then(|it| state.new_handle(&call.hwloc, it.segment))
                {
                    say!("dup by {}: shared", call.by.name());
                    // SAFETY: the caller's output is valid.
                    unsafe { *copy = shared };
                    return 0;
                }
            }
            // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
            let result = unsafe { (call.hwloc.functions.dup)(copy, topology) };
            if call.is_guarded() && result == 0 {
                state().forget(stored(copy, result));
                say!("dup by {}: copied", call.by.name());
            }
            result
        },
    )
}

/// Stands for `hwloc_topology_destroy`: ends a handle, and leaves its segment mapped.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn destroy(topology: Topology, caller: *const c_void) {
    let Some(call) = Call::from(caller) else { return };
    noted(
        &call,
        "destroy",
        |_| topology,
        || {
            if !call.is_inner() {
                let mut state = state();
                if let Some(handle) = state.handle(topology) {
                    state.end_handle(&call.hwloc, handle, topology);
                    say!("destroy by {}: a handle", call.by.name());
                    return 0;
                }
                state.forget(topology);
            }
            // SAFETY: it is hwloc's function, and the caller's argument is valid for it.
            unsafe { (call.hwloc.functions.destroy)(topology) };
            0
        },
    );
}
