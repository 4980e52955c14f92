//! Functions by which a program says where a topology that is not loaded yet comes from.

use crate::call::{Call, stored};
use crate::hwloc::Topology;
use crate::not_loaded::NotLoaded;
use crate::note::noted;
use crate::state::state;
use core::ffi::{CStr, c_char, c_int, c_ulong, c_void};

/// Stands for `hwloc_topology_init`.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn init(topology: *mut Topology, caller: *const c_void) -> c_int {
    type Real = unsafe extern "C" fn(*mut Topology) -> c_int;
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Real>(c"hwloc_topology_init") else { return -1 };
    // SAFETY: it is hwloc's function, and the caller's argument is valid for it.
    let result = unsafe { real(topology) };
    if result == 0 && !call.is_inner() {
        let mut state = state();
        let topology = stored(topology, result);
        state.forget(topology);
        state.sources.push(NotLoaded { topology, other: None, without_gl: false });
    }
    result
}

/// Notes what a program has said of a topology.
fn note(call: &Call, topology: Topology, change: impl FnMut(&mut NotLoaded)) {
    if call.is_inner() {
        return;
    }
    state().sources.iter_mut().filter(|it| it.topology == topology).for_each(change);
}

/// Defines functions after which a topology is not that of this machine as it is.
macro_rules! other_source {
    ($(
        $(#[$about:meta])*
        $name:ident = $real:literal ($($argument:ident: $type:ty),*) -> $result:ty,
            or $failed:expr $(, noted as $noted:literal)?;
    )*) => { $(
        $(#[$about])*
        ///
        /// # Safety
        ///
        /// As for hwloc's function. `caller` is the address that it returns to.
        #[allow(clippy::unused_unit, reason = "one definition for all results")]
        pub(crate) unsafe extern "C" fn $name(
            topology: Topology,
            $($argument: $type,)*
            caller: *const c_void,
        ) -> $result {
            type Real = unsafe extern "C" fn(Topology, $($type),*) -> $result;
            const NAME: &CStr = $real;
            let Some(call) = Call::from(caller) else { return $failed };
            let Some(real) = call.function::<Real>(NAME) else { return $failed };
            note(&call, topology, |source| source.other = NAME.to_str().ok());
            // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
            let work = || unsafe { real(topology, $($argument),*) };
            $(let work = || noted(&call, $noted, |_| topology, work);)?
            work()
        }
    )* };
}

other_source! {
    /// Stands for `hwloc_topology_set_xml`.
    set_xml = c"hwloc_topology_set_xml"(path: *const c_char) -> c_int, or -1, noted as "set_xml";
    /// Stands for `hwloc_topology_set_xmlbuffer`.
    set_xmlbuffer = c"hwloc_topology_set_xmlbuffer"(
        buffer: *const c_char, size: c_int
    ) -> c_int, or -1, noted as "set_xmlbuffer";
    /// Stands for `hwloc_topology_set_synthetic`.
    set_synthetic = c"hwloc_topology_set_synthetic"(text: *const c_char) -> c_int, or -1;
    /// Stands for `hwloc_topology_set_pid`.
    set_pid = c"hwloc_topology_set_pid"(pid: c_int) -> c_int, or -1;
    /// Stands for `hwloc_topology_set_userdata_import_callback`, which matters only to imports.
    set_userdata_import_callback =
        c"hwloc_topology_set_userdata_import_callback"(callback: *const c_void) -> (), or ();
    /// Stands for `hwloc_topology_set_userdata_export_callback`. A slot does not keep it.
    set_userdata_export_callback =
        c"hwloc_topology_set_userdata_export_callback"(callback: *const c_void) -> (), or ();
}

/// Stands for `hwloc_topology_set_components`. Only the exclusion of `gl` is one that slots know.
///
/// # Safety
///
/// As for hwloc's function. `caller` is the address that it returns to.
pub(crate) unsafe extern "C" fn set_components(
    topology: Topology,
    flags: c_ulong,
    name: *const c_char,
    caller: *const c_void,
) -> c_int {
    type Real = unsafe extern "C" fn(Topology, c_ulong, *const c_char) -> c_int;
    const NAME: &CStr = c"hwloc_topology_set_components";
    let Some(call) = Call::from(caller) else { return -1 };
    let Some(real) = call.function::<Real>(NAME) else { return -1 };
    // SAFETY: the caller's name is NULL or ends with a zero.
    let is_gl = !name.is_null() && unsafe { CStr::from_ptr(name) } == c"gl";
    note(&call, topology, |source| match is_gl {
        true => source.without_gl = true,
        false => source.other = NAME.to_str().ok(),
    });
    // SAFETY: it is hwloc's function, and the caller's arguments are valid for it.
    unsafe { real(topology, flags, name) }
}
