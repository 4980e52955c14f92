//! A gate that holds threads back and never a forked child.
//!
//! It spares work, it is not what makes anything safe: of adoption that is the compare-and-exchange of the
//! global and the kernel, which maps an address once. So a forked child, where the thread that held
//! the gate may not exist, walks past it instead of waiting for ever.

use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicI32, Ordering};

/// One thread at a time does something that need be done once.
///
/// ```
/// static GATE: topobroker_reader::Gate = topobroker_reader::Gate::new();
/// let _turn = GATE.enter();
/// ```
#[derive(Debug)]
pub struct Gate {
    mutex: Mutex<()>,
    /// Process whose threads the gate holds back: the first that came. 0: none yet.
    process: AtomicI32,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A gate that nobody is at.
    #[must_use]
    pub const fn new() -> Self {
        Self { mutex: Mutex::new(()), process: AtomicI32::new(0) }
    }

    /// Waits for the turn of this thread, or walks past in a child that was forked after the first use.
    pub fn enter(&self) -> Option<MutexGuard<'_, ()>> {
        let me = rustix::process::getpid().as_raw_pid();
        match self.process.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(self.mutex.lock()),
            Err(first) if first == me => Some(self.mutex.lock()),
            Err(_) => None,
        }
    }
}
