//! A call of one of hwloc's functions.

use crate::hwloc::{Hwloc, LoadedFile, Topology};
use crate::settings;
use core::ffi::{CStr, c_int, c_void};

/// A call of one of hwloc's functions: who called, and which hwloc library is meant.
pub(crate) struct Call {
    pub(crate) hwloc: Hwloc,
    pub(crate) by: LoadedFile,
}

impl Call {
    /// The call that returns to an address. `None`, with `errno`, if the process has no hwloc.
    pub(crate) fn from(caller: *const c_void) -> Option<Self> {
        let by = LoadedFile::of(caller);
        let hwloc = Hwloc::of(&by);
        if hwloc.is_none() {
            set_errno(libc::ENOSYS);
        }
        Some(Self { hwloc: hwloc?, by })
    }

    /// Whether the guard may do something other than hwloc: it is on, knows the version, and it is
    /// not hwloc that calls itself, nor the broker, which must see what hwloc finds.
    pub(crate) fn is_guarded(&self) -> bool {
        let name = self.by.name();
        let is_broker = name.starts_with("topobroker") || name.starts_with("libtopobroker");
        settings::is_on() && !self.is_inner() && !is_broker && self.is_known()
    }

    /// Whether the guard knows the structures of this version of hwloc.
    pub(crate) fn is_known(&self) -> bool {
        (0x20400..0x30000).contains(&self.hwloc.version())
    }

    /// Whether hwloc calls itself.
    pub(crate) fn is_inner(&self) -> bool {
        self.by.base == self.hwloc.base
    }

    /// hwloc's function of a name; `None`, with `errno`, if it has none. The caller chooses as `F`
    /// the type that hwloc's header gives the function.
    pub(crate) fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        let found = self.hwloc.function(name);
        if found.is_none() {
            set_errno(libc::ENOSYS);
        }
        found
    }
}

/// The topology that a call has stored; NULL if the call failed.
pub(crate) fn stored(output: *const Topology, result: c_int) -> Topology {
    // SAFETY: the call succeeded, so a topology was stored in `output`.
    if result == 0 { unsafe { *output } } else { core::ptr::null_mut() }
}

pub(crate) fn errno() -> c_int {
    // SAFETY: the pointer is that of this thread's own `errno`.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn set_errno(number: c_int) {
    // SAFETY: the pointer is that of this thread's own `errno`.
    unsafe { *libc::__errno_location() = number };
}
