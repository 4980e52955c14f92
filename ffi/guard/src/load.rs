//! Loading this machine: from a slot that the broker has written for the same load, if hwloc would
//! load the same here.

use crate::call::{Call, errno};
use crate::fate::{Declined, Fate};
use crate::handle::exchange;
use crate::hwloc::Topology;
use crate::not_loaded::NotLoaded;
use crate::note::noted_load;
use crate::say::say;
use crate::segment::{Adopt, Mapped, Where};
use crate::settings::{audit_folder, variables};
use crate::state::{State, state};
use core::ffi::{c_int, c_ulong, c_void};
use core::ptr::without_provenance_mut;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use topobroker_process::open_trusted;
use topobroker_reader::{FilePath, Keys};
use topobroker_slots::{
    FIRST_PAGE, LoadKey, OBJECT_TYPES, SLOTS_ENDING, Slots, SlotsOfKey, hash_of_affinity,
    hash_of_cgroup, hash_of_environment, is_tried,
};

/// Stands for `hwloc_topology_load`.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn load(topology: Topology, caller: *const c_void) -> c_int {
    type Load = unsafe extern "C" fn(Topology) -> c_int;
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Load>(c"hwloc_topology_load") else { return -1 };
    // SAFETY: it is hwloc's function, and the caller's argument is valid for it.
    let real = || unsafe { real(topology) };
    if call.is_inner() {
        return real();
    }
    let real = || {
        let result = real();
        if result == 0 {
            state().forget(topology);
        }
        result
    };
    let key = key_of(&call, topology);
    if !call.is_guarded() {
        let fate = without_guard(&call, topology, key);
        return noted_load(&call, topology, key, || (real(), fate));
    }
    noted_load(&call, topology, key, || match serve(&call, topology, key) {
        Ok(()) => {
            say!("load by {}: served", call.by.name());
            (0, Fate::Served)
        }
        Err(why) => {
            say!("load by {}: left to hwloc: {why}", call.by.name());
            (real(), Fate::Left(why))
        }
    })
}

/// What the guard would do, for an audit without it.
fn without_guard(call: &Call, topology: Topology, key: Option<LoadKey>) -> Fate {
    match audit_folder().map(|_| find(call, topology, key)) {
        None => Fate::Unknown,
        Some(Ok(_)) => Fate::WouldBeServed,
        Some(Err(why)) => Fate::WouldBeLeft(why),
    }
}

/// What the program has asked for. `None` if hwloc does not say.
pub(crate) fn key_of(call: &Call, topology: Topology) -> Option<LoadKey> {
    type GetFlags = unsafe extern "C" fn(Topology) -> c_ulong;
    type GetFilter = unsafe extern "C" fn(Topology, c_int, *mut c_int) -> c_int;
    let get_flags: GetFlags = call.hwloc.function(c"hwloc_topology_get_flags")?;
    let get_filter: GetFilter = call.hwloc.function(c"hwloc_topology_get_type_filter")?;
    let mut filters = [0; OBJECT_TYPES];
    for (object_type, filter) in filters.iter_mut().enumerate() {
        let mut found = 0;
        // SAFETY: it is hwloc's function, the topology is valid, and `found` is an output.
        let error =
            unsafe { get_filter(topology, c_int::try_from(object_type).ok()?, &raw mut found) };
        *filter = u8::try_from(found).ok().filter(|_| error == 0)?;
    }
    // SAFETY: it is hwloc's function, and the topology is valid.
    let flags = unsafe { get_flags(topology) };
    let without_gl = state().source(topology).is_some_and(|source| source.without_gl);
    Some(LoadKey { flags, filters, without_gl })
}

/// The slots that a load may be served from.
struct Found {
    file: OwnedFd,
    slots: SlotsOfKey,
}

/// Finds the slots for a load, if hwloc would load the same.
fn find(call: &Call, topology: Topology, key: Option<LoadKey>) -> Result<Found, Declined> {
    /// Values of `HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_*`.
    const TO_CPU_BINDING: u64 = 16;
    const TO_MEMORY_BINDING: u64 = 32;
    if !call.is_known() {
        return Err(Declined::Version(call.hwloc.version()));
    }
    let key = key.ok_or(Declined::Version(call.hwloc.version()))?;
    match state().source(topology) {
        Some(NotLoaded { other: Some(function), .. }) => return Err(Declined::Input(function)),
        Some(_) => {}
        // hwloc refuses to load it again.
        None => return Err(Declined::Loaded),
    }
    let path = slots_file().ok_or(Declined::Unpublished)?;
    let file = match open_trusted(&path) {
        Ok(file) => file,
        Err(source) => return Err(Declined::File { path, source }),
    };
    let slots = read(&file).ok_or(Declined::Damaged { path })?;
    if call.hwloc.hash_of_file() != Some(slots.library) {
        return Err(Declined::Library);
    }
    let caller = call.by.name_with_version();
    if !is_tried(&slots.callers, &caller) {
        return Err(Declined::Caller { caller, tried: slots.callers });
    }
    let (written, cgroup) = (slots.conditions, slots.cgroup);
    let slots =
        slots.keys.into_iter().find(|slots| slots.is_for(&key)).ok_or(Declined::Key(key))?;
    let environment = hash_of_environment(variables());
    if ![written.environment, written.published_environment].contains(&environment) {
        return Err(Declined::Environment);
    }
    if hash_of_cgroup(&cgroup).ok() != Some(written.cgroup) {
        return Err(Declined::Cgroup);
    }
    let is_bound = || hash_of_affinity().ok() != Some(written.affinity);
    if key.flags & TO_MEMORY_BINDING != 0 || key.flags & TO_CPU_BINDING != 0 && is_bound() {
        return Err(Declined::Binding);
    }
    Ok(Found { file, slots })
}

/// The file with the slots, next to the node's segment.
fn slots_file() -> Option<FilePath> {
    let keys = Keys::from_env().ok().or_else(|| Keys::in_folder(&Keys::run_folder()))?;
    Some(FilePath::from_bytes([keys.file()?.as_bytes(), SLOTS_ENDING.as_bytes()].concat()))
}

fn read(file: &OwnedFd) -> Option<Slots> {
    let mut page = [0; FIRST_PAGE];
    let read = rustix::io::pread(file, &mut page, 0).ok()?;
    let length = u64::try_from(rustix::fs::fstat(file).ok()?.st_size).ok()?;
    Slots::read(page.get(..read)?, length)
}

/// Makes a topology one in a slot, as if hwloc had loaded it.
fn serve(call: &Call, topology: Topology, key: Option<LoadKey>) -> Result<(), Declined> {
    let Found { file, slots } = find(call, topology, key)?;
    let missing = || Declined::Version(call.hwloc.version());
    let adopt = call.hwloc.function::<Adopt>(c"hwloc_shmem_topology_adopt").ok_or_else(missing)?;
    let state = &mut *state();
    let mut refused = None;
    for (offset, address) in slots.slots() {
        let place = Where {
            file: file.as_fd().as_raw_fd(),
            offset,
            address: without_provenance_mut(usize::try_from(address).unwrap_or(0)),
            length: usize::try_from(slots.length).unwrap_or(0),
        };
        // SAFETY: it is hwloc's function, and only root or this user can have written the file.
        match unsafe { state.map(&call.hwloc, adopt, place) } {
            Some(Mapped::Shared(segment)) if state.is_in_use(segment) => {}
            Some(Mapped::Shared(segment)) => {
                if fill(call, state, segment, topology, slots.named_types).is_some() {
                    return Ok(());
                }
                refused = Some(libc::ENOMEM);
            }
            Some(Mapped::Plain(adopted)) => {
                // SAFETY: hwloc has just made it, and no other code knows of it.
                unsafe { (call.hwloc.functions.destroy)(adopted) };
                return Err(missing());
            }
            None => refused = Some(errno()),
        }
    }
    Err(refused.map_or(Declined::InUse(slots.count), Declined::Hwloc))
}

/// Turns a topology that is not loaded into a handle on a segment. `None` if there is no memory for
/// it.
fn fill(
    call: &Call,
    state: &mut State,
    segment: usize,
    topology: Topology,
    named_types: u32,
) -> Option<()> {
    let handle = state.new_handle(&call.hwloc, segment)?;
    let State { texts, segments, .. } = state;
    // SAFETY: the handle is a topology in that segment, and no other code knows of it.
    if !unsafe { texts.own(segments, &call.hwloc.functions, handle, named_types) } {
        let failed = state.handle(handle)?;
        state.end_handle(&call.hwloc, failed, handle);
        return None;
    }
    exchange(&call.hwloc, topology, handle);
    state.forget(topology);
    state
        .handles
        .iter_mut()
        .filter(|it| it.topology == handle)
        .for_each(|it| (it.topology, it.is_loaded) = (topology, true));
    // SAFETY: what the program has initialised is there now, and no other code knows of it.
    unsafe { (call.hwloc.functions.destroy)(handle) };
    Some(())
}
