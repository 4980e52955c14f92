//! A lock that a child of a fork finds free.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};

/// A value that one thread at a time may use. A fork waits until no thread uses it, so that a child
/// finds it whole, and the lock free.
pub(crate) struct Lock<T> {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    value: UnsafeCell<T>,
}

// SAFETY: the mutex lets one thread at a time have the value.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits until no other thread has the value. The same thread must not have it.
    pub(crate) fn lock(&self) -> Locked<'_, T> {
        self.acquire();
        Locked(self)
    }

    pub(crate) fn acquire(&self) {
        // SAFETY: the mutex is initialised and never moved, because locks are statics.
        unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
    }

    /// Gives the lock back.
    ///
    /// # Safety
    ///
    /// This thread must have acquired it, or be the one of a forked child whose parent's thread
    /// has.
    pub(crate) unsafe fn release(&self) {
        // SAFETY: the caller has the lock.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
    }
}

/// The value of a [`Lock`], which is given back when this is dropped.
pub(crate) struct Locked<'a, T>(&'a Lock<T>);

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the lock, and this value is borrowed mutably.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        // SAFETY: `lock` has acquired it.
        unsafe { self.0.release() };
    }
}

/// Has forks of this process wait for the lock. To be called before there are threads.
pub(crate) fn hold_during_forks(before: unsafe extern "C" fn(), after: unsafe extern "C" fn()) {
    // SAFETY: the functions stay, because this library is never unloaded.
    unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
}
