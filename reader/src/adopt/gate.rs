//! A gate that lets one thread at a time pass and never holds back a forked child.
//!
//! The gate only avoids duplicate work. Adoption is safe without it, because the global is set by a
//! compare-and-exchange and the kernel does not map an address twice. So a forked child passes
//! without waiting: the thread that held the gate may not exist in the child, which would wait for
//! ever.

use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicI32, Ordering};

/// Lets one thread at a time do work that is needed once.
///
/// ```
/// static GATE: topobroker_reader::internal::Gate = topobroker_reader::internal::Gate::new();
/// let _turn = GATE.enter();
/// ```
#[derive(Debug)]
pub struct Gate {
    mutex: Mutex<()>,
    /// Process whose threads wait at the gate: the first that entered; 0 if none has yet.
    process: AtomicI32,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A gate that no thread has entered.
    #[must_use]
    pub const fn new() -> Self {
        Self { mutex: Mutex::new(()), process: AtomicI32::new(0) }
    }

    /// Waits until no other thread is inside. Returns `None` without waiting in a child that was
    /// forked after the first use.
    pub fn enter(&self) -> Option<MutexGuard<'_, ()>> {
        let me = rustix::process::getpid().as_raw_pid();
        match self.process.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(self.mutex.lock()),
            Err(first) if first == me => Some(self.mutex.lock()),
            Err(_) => None,
        }
    }
}
