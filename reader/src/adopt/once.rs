//! The guarded global: a value that is set once for the life of the process, without a lock.
//!
//! `OnceLock` would do but for fork: a child forked while another thread sets it waits for ever.

#[cfg(loom)]
use loom::sync::atomic::AtomicPtr;
#[cfg(not(loom))]
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering;

/// A cell that is set at most once and never waits: what holds the topology of a process, and what
/// others build on it.
///
/// ```
/// static ANSWER: topobroker_reader::Global<u32> = topobroker_reader::Global::new();
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
    /// A cell that is not set.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The same where loom tries every order of what threads do.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The value, if it is set. One atomic load.
    #[must_use]
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: the pointer is null or was leaked from a box by `offer`, which nothing frees or
        // writes again; Acquire pairs with the Release there, so the value is seen whole. Sharing
        // it between threads is what `T: Sync` allows, and setting it by any thread `T: Send`.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Sets the value unless another thread was first, and returns the one that is kept.
    pub fn set(&self, value: T) -> &'static T {
        self.offer(value).unwrap_or_else(|(_, kept)| kept)
    }

    /// Sets the value, or gives it back with the one that another thread has set.
    pub(crate) fn offer(&self, value: T) -> Result<&'static T, (T, &'static T)> {
        let value = Box::into_raw(Box::new(value));
        let first = self.0.compare_exchange(
            std::ptr::null_mut(),
            value,
            Ordering::Release,
            Ordering::Acquire,
        );
        match first {
            // SAFETY: leaked above, by nobody freed; as in `get`.
            Ok(_) => Ok(unsafe { &*value }),
            Err(first) => {
                // SAFETY: `value` came from a box above and was not published.
                let value = *unsafe { Box::from_raw(value) };
                // SAFETY: not null, or the exchange would have succeeded; as in `get`.
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
