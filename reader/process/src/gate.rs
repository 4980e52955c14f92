//! A gate that lets one thread at a time pass and never holds back a forked child.
//!
//! The gate only avoids duplicate work. Adoption is safe without it, because the global is set by a
//! compare-and-exchange and the kernel does not map an address twice. So a forked child passes
//! without waiting: the thread that held the gate may not exist in the child, which would wait for
//! ever.

use core::sync::atomic::{AtomicU32, Ordering};
use rustix::thread::futex;

/// Lets one thread at a time do work that is needed once.
///
/// ```
/// static GATE: topobroker_process::Gate = topobroker_process::Gate::new();
/// let _turn = GATE.enter();
/// ```
#[derive(Debug)]
pub struct Gate {
    /// Process of the thread that is inside; 0 if none is.
    inside: AtomicU32,
}

/// The turn of a thread, which ends when it is dropped.
#[derive(Debug)]
pub struct Turn<'g>(&'g Gate);

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A gate that no thread has entered.
    #[must_use]
    pub const fn new() -> Self {
        Self { inside: AtomicU32::new(0) }
    }

    /// Waits until no other thread is inside. Returns `None` without waiting in a child that was
    /// forked while a thread of its parent was inside.
    pub fn enter(&self) -> Option<Turn<'_>> {
        let me = rustix::process::getpid().as_raw_pid().cast_unsigned();
        loop {
            match self.inside.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Turn(self)),
                // Ends at once if the value has changed meanwhile, and at every signal.
                Err(first) if first == me => {
                    _ = futex::wait(&self.inside, futex::Flags::PRIVATE, me, None);
                }
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.inside.store(0, Ordering::Release);
        _ = futex::wake(&self.0.inside, futex::Flags::PRIVATE, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn one_thread_at_a_time_is_inside_and_all_get_their_turn() {
        static GATE: Gate = Gate::new();
        static BUSY: AtomicBool = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let turn = GATE.enter();
                        assert!(turn.is_some() && !BUSY.swap(true, Ordering::Relaxed));
                        BUSY.store(false, Ordering::Relaxed);
                    }
                });
            }
        });
    }

    #[test]
    fn a_process_that_was_forked_while_its_parent_was_inside_does_not_wait() {
        let gate = Gate { inside: AtomicU32::new(1) };
        assert!(gate.enter().is_none());
    }
}
