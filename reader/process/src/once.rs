//! The guarded global: a value that is set once for the life of the process, without a lock.
//!
//! `OnceLock` does not survive a fork: if another thread is just setting it, the child waits for
//! ever.

use alloc::boxed::Box;

#[cfg(not(loom))]
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering;
#[cfg(loom)]
use loom::sync::atomic::AtomicPtr;

/// A cell that is set at most once and never waits. It holds the topology of a process, or a value
/// that another crate derives from it.
///
/// ```
/// static ANSWER: topobroker_process::Global<u32> = topobroker_process::Global::new();
/// assert_eq!((*ANSWER.set(42), *ANSWER.set(7), ANSWER.get()), (42, 42, Some(&42)));
/// ```
#[derive(Debug)]
pub struct Global<T: 'static>(AtomicPtr<T>);

impl<T: Send + Sync> Default for Global<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send + Sync> Global<T> {
    /// An empty cell.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// An empty cell for loom, whose atomics cannot be made in a constant.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// The value, if it is set. One atomic load.
    #[must_use]
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: the pointer is null or was leaked from a box by `offer`. Nothing frees or writes
        // that value again, and Acquire pairs with the Release in `offer`, so all of it is visible
        // here. `T: Sync` allows threads to share it, and `T: Send` allows any thread to set it.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Sets the value unless the cell is set already, and returns the value in the cell.
    pub fn set(&self, value: T) -> &'static T {
        self.offer(value).unwrap_or_else(|(_, kept)| kept)
    }

    /// Sets the value. If the cell is set already, gives the value back together with the one in
    /// the cell.
    ///
    /// # Errors
    ///
    /// Both values, if another one is in the cell.
    pub fn offer(&self, value: T) -> Result<&'static T, (T, &'static T)> {
        let value = Box::into_raw(Box::new(value));
        let first = self.0.compare_exchange(
            core::ptr::null_mut(),
            value,
            Ordering::Release,
            Ordering::Acquire,
        );
        match first {
            // SAFETY: `value` was just leaked from a box, and nothing frees or writes it again.
            Ok(_) => Ok(unsafe { &*value }),
            Err(first) => {
                // SAFETY: `value` came from a box, and no other thread has seen it because the
                // exchange failed.
                let value = *unsafe { Box::from_raw(value) };
                // SAFETY: `first` is not null, or the exchange would have succeeded. Another
                // `offer` leaked it from a box, nothing frees or writes it again, and Acquire pairs
                // with the Release of that `offer`.
                Err((value, unsafe { &*first }))
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn of_many_threads_that_set_the_first_wins_and_all_see_it() {
        static CELL: Global<usize> = Global::new();
        assert!(CELL.get().is_none());
        let kept: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16).map(|i| scope.spawn(move || *CELL.set(i))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(kept.iter().all(|value| Some(value) == CELL.get()));
    }
}
