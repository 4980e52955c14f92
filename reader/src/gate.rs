//! The gate of the slow path: one thread at a time maps and checks.
//!
//! It spares work, it is not what makes adoption safe: that is the compare-and-exchange of the
//! global and the kernel, which maps an address once. So a forked child, where the thread that held
//! the gate may not exist, walks past it instead of waiting for ever.

use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicI32, Ordering};

static GATE: Mutex<()> = Mutex::new(());

/// Process whose threads the gate holds back: the first that came. 0: none yet.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Waits for the gate, or walks past it in a child that was forked after its first use.
pub(crate) fn enter() -> Option<MutexGuard<'static, ()>> {
    let me = rustix::process::getpid().as_raw_pid();
    match PROCESS.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Some(GATE.lock()),
        Err(first) if first == me => Some(GATE.lock()),
        Err(_) => None,
    }
}
