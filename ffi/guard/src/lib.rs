//! The hwloc guard: a library that is preloaded into unmodified programs, so that they share
//! hwloc's topologies instead of copying them. It replaces some of hwloc's functions (`entry.rs`
//! lists them):
//!
//! * **Adopting again**: hwloc can map a shared topology only once, so the second library of a
//!   process that adopts it fails, and makes its own. Here it gets another handle on the same
//!   memory (`sharing.rs`).
//! * **Copies**: libpmix copies what it has adopted. Here it gets another handle, until somebody
//!   modifies it (`private.rs`).
//! * **Loading this machine**: served from the slots that the broker has written (`load.rs`), if
//!   hwloc would load the same.
//!
//! Whenever something is in doubt, hwloc's own function does the work. `TOPOBROKER_GUARD=0` turns
//! the guard off, and with `TOPOBROKER_GUARD_VERBOSE=1` it says on standard error what it does, and
//! why it does not.
//!
//! `topobroker audit` preloads the same library: if `TOPOBROKER_AUDIT` names a folder, each process
//! notes there which topologies it makes (`note.rs`).
//!
//! A library in everybody's process must be small, so it is built without the standard library.
#![no_std]
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(unused, reason = "on other processors it replaces nothing")
)]

extern crate alloc;
// In a build that unwinds, only the standard library knows what a panic is to do.
#[cfg(panic = "unwind")]
extern crate std;

mod call;
mod cpu_kinds;
mod entry;
mod exit;
mod fate;
mod handle;
mod heap;
mod hwloc;
mod load;
mod loaded;
mod lock;
mod modify;
mod not_loaded;
mod note;
mod obj_info;
mod private;
mod say;
mod segment;
mod set_source;
mod settings;
mod sharing;
mod state;
mod texts;
#[cfg(panic = "abort")]
mod without_std;
