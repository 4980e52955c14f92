//! What a thread keeps between calls: its last message, and whether it is adopting.
//!
//! Values of threads are behind POSIX keys, which are made when the first one is kept. So the
//! library has no thread-local storage of its own, which every thread of every process would pay
//! for.

use alloc::boxed::Box;
use core::ffi::{c_char, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};

/// Room for the message of a failure and a zero. Longer messages, which have very long paths, are
/// cut.
pub(crate) const ROOM: usize = 1024;

/// A key under which each thread keeps a pointer of its own; NULL at first.
struct Key {
    /// The key of the C library plus one; 0 before it is made.
    made: AtomicU64,
}

/// What is done with a thread's pointer when the thread ends. Not part of a [`Key`], because the
/// loader would have to write it in every process.
type AtEnd = Option<unsafe extern "C" fn(*mut c_void)>;

static MESSAGE: Key = Key { made: AtomicU64::new(0) };
static ADOPTS: Key = Key { made: AtomicU64::new(0) };

impl Key {
    /// The key, if it was made.
    fn known(&self) -> Option<libc::pthread_key_t> {
        self.made.load(Ordering::Acquire).checked_sub(1)?.try_into().ok()
    }

    /// The key, which is made at the first call; `None` if the process has too many keys.
    fn made(&self, at_end: AtEnd) -> Option<libc::pthread_key_t> {
        if let Some(key) = self.known() {
            return Some(key);
        }
        let mut key = 0;
        // SAFETY: the key is written to a local variable. `at_end` takes what `set` was given, and
        // the code of the library is never unloaded.
        if unsafe { libc::pthread_key_create(&raw mut key, at_end) } != 0 {
            return None;
        }
        let first = u64::from(key) + 1;
        match self.made.compare_exchange(0, first, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(key),
            Err(_) => {
                // SAFETY: the key was just made, and no thread has a value under it.
                unsafe { libc::pthread_key_delete(key) };
                self.known()
            }
        }
    }

    /// The pointer of this thread.
    fn get(&self) -> *mut c_void {
        // SAFETY: the key exists and is never deleted.
        self.known().map_or(null_mut(), |key| unsafe { libc::pthread_getspecific(key) })
    }

    /// Sets the pointer of this thread. Returns whether there is room for it.
    fn set(&self, pointer: *mut c_void, at_end: AtEnd) -> bool {
        // SAFETY: the key exists and is never deleted.
        self.made(at_end).is_some_and(|key| unsafe { libc::pthread_setspecific(key, pointer) } == 0)
    }
}

unsafe extern "C" fn free_message(message: *mut c_void) {
    // SAFETY: only `keep_message` sets this pointer, from a box, and the thread has ended.
    drop(unsafe { Box::from_raw(message.cast::<[u8; ROOM]>()) });
}

/// Keeps the message of a failure for this thread, in place of the one before. If there is no memory
/// for it, it is lost.
pub(crate) fn keep_message(text: &str) {
    let mut message = MESSAGE.get().cast::<[u8; ROOM]>();
    if message.is_null() {
        message = Box::into_raw(Box::new([0; ROOM]));
        if !MESSAGE.set(message.cast(), Some(free_message)) {
            // SAFETY: the pointer is from the box above, and nobody else has it.
            return drop(unsafe { Box::from_raw(message) });
        }
    }
    let end = (0..ROOM).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let bytes = text.bytes().take(end).filter(|byte| *byte != 0).chain(core::iter::repeat(0));
    for (place, byte) in (0..ROOM).zip(bytes) {
        // SAFETY: the message belongs to this thread and has `ROOM` bytes. No reference to it is
        // made, because a signal handler may interrupt this and write a message of its own.
        unsafe { message.cast::<u8>().add(place).write(byte) };
    }
}

/// The message of the last failure of this thread, empty if there was none.
pub(crate) fn message() -> *const c_char {
    let message = MESSAGE.get();
    if message.is_null() { c"".as_ptr() } else { message.cast_const().cast() }
}

/// Sets whether this thread is adopting. Returns whether it was before.
pub(crate) fn set_adopts(adopts: bool) -> bool {
    let before = !ADOPTS.get().is_null();
    if before != adopts {
        // Any pointer but NULL says that it is. Nobody follows it.
        let mark = if adopts { (&raw const ADOPTS).cast_mut().cast() } else { null_mut() };
        // Without room for it, only a signal handler that adopts too is not refused.
        ADOPTS.set(mark, None);
    }
    before
}

/// The message of the last failure of this thread.
#[cfg(test)]
pub(crate) fn kept() -> String {
    // SAFETY: the message ends with a zero, and this thread keeps no other one meanwhile.
    unsafe { std::ffi::CStr::from_ptr(message()) }.to_str().unwrap().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_too_long_is_cut_at_a_character() {
        keep_message(&format!("{}é and more", "x".repeat(ROOM - 2)));
        assert_eq!(kept(), "x".repeat(ROOM - 2));
    }

    #[test]
    fn each_thread_has_its_own_message_and_empty_at_first() {
        keep_message("of the first thread");
        let other = std::thread::spawn(|| {
            let before = kept();
            keep_message("of the second, with a zero \0 inside");
            (before, kept())
        });
        let (before, after) = other.join().unwrap();
        assert_eq!((before.as_str(), after.as_str()), ("", "of the second, with a zero  inside"));
        assert_eq!(kept(), "of the first thread");
    }
}
