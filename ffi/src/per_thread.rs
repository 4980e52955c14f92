//! What a thread keeps between calls: its last message, and whether it is adopting.
//!
//! Values of threads are behind POSIX keys, which are made when the first one is kept. So the
//! library has no thread-local storage of its own, which every thread of every process would pay
//! for.

use core::ffi::{c_char, c_void};
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicU32, Ordering};

/// Room for the message of a failure and a zero. Longer messages, which have very long paths, are
/// cut.
const ROOM: usize = 1024;

/// A key under which each thread keeps a pointer of its own; NULL at first.
struct Key {
    /// The key of the C library plus one; 0 before it is made.
    made: AtomicU32,
}

/// What is done with a thread's pointer when the thread ends. It must be code that stays: the
/// thread may outlive a plugin that contains this library. Not part of a [`Key`], because the
/// loader would have to write it in every process.
type AtEnd = Option<unsafe extern "C" fn(*mut c_void)>;

/// The message of a thread: memory of `malloc`.
static MESSAGE: Key = Key { made: AtomicU32::new(0) };
/// [`ADOPTS`] and [`LOST`] as a number.
static STATE: Key = Key { made: AtomicU32::new(0) };

/// The thread is adopting.
const ADOPTS: usize = 1;
/// There was no memory for the last message.
const LOST: usize = 2;

impl Key {
    /// The key, if it was made.
    fn known(&self) -> Option<libc::pthread_key_t> {
        self.made.load(Ordering::Acquire).checked_sub(1)
    }

    /// The key, which is made at the first call; `None` if the process has too many keys.
    fn made(&self, at_end: AtEnd) -> Option<libc::pthread_key_t> {
        if let Some(key) = self.known() {
            return Some(key);
        }
        let mut key = 0;
        // SAFETY: the key is written to a local variable. `at_end` is `free` or nothing, and takes
        // only what `set` was given.
        if unsafe { libc::pthread_key_create(&raw mut key, at_end) } != 0 {
            return None;
        }
        match self.made.compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire) {
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
        // SAFETY: the key exists. If the process is ending and it was deleted, NULL is returned.
        self.known().map_or(null_mut(), |key| unsafe { libc::pthread_getspecific(key) })
    }

    /// Sets the pointer of this thread. Returns whether there is room for it.
    fn set(&self, pointer: *mut c_void, at_end: AtEnd) -> bool {
        // SAFETY: the key exists. If the process is ending and it was deleted, this fails.
        self.made(at_end).is_some_and(|key| unsafe { libc::pthread_setspecific(key, pointer) } == 0)
    }
}

/// Gives the keys back when the library is unloaded, because a process has a thousand at most.
extern "C" fn forget_keys() {
    for key in [&MESSAGE, &STATE] {
        if let Some(made) = key.made.swap(0, Ordering::AcqRel).checked_sub(1) {
            // SAFETY: the key was made by this library, and only this library deletes it.
            unsafe { libc::pthread_key_delete(made) };
        }
    }
}

#[used]
#[cfg_attr(not(miri), unsafe(link_section = ".fini_array"))]
static AT_UNLOADING: extern "C" fn() = forget_keys;

/// Keeps the message of a failure for this thread, in place of the one before.
pub(crate) fn keep_message(text: &str) {
    let Some(message) = room() else {
        return set_state(LOST, true);
    };
    set_state(LOST, false);
    let end = (0..ROOM).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let bytes = text.bytes().take(end).filter(|byte| *byte != 0).chain(core::iter::repeat(0));
    for (place, byte) in (0..ROOM).zip(bytes) {
        // SAFETY: the message belongs to this thread and has `ROOM` bytes. No reference to it is
        // made, because a signal handler may interrupt this and write a message of its own.
        unsafe { message.add(place).write(byte) };
    }
}

/// The room for this thread's message; `None` if there is no memory. It is not taken from the
/// reserve of the library, which is for what ends with the call.
fn room() -> Option<*mut u8> {
    let message = MESSAGE.get();
    if !message.is_null() {
        return Some(message.cast());
    }
    // SAFETY: `malloc` takes any size.
    let message = unsafe { libc::malloc(ROOM) };
    if message.is_null() {
        return None;
    }
    if !MESSAGE.set(message, Some(free)) {
        // SAFETY: `malloc` returned the memory, and no other code has it.
        unsafe { libc::free(message) };
        return None;
    }
    Some(message.cast())
}

#[cfg(not(miri))]
use libc::free;

/// Miri does not call functions of the C library at the end of a thread.
#[cfg(miri)]
unsafe extern "C" fn free(memory: *mut c_void) {
    // SAFETY: `room` set this pointer, which `malloc` returned, and the thread has ended.
    unsafe { libc::free(memory) };
}

/// The message of the last failure of this thread, empty if there was none.
pub(crate) fn message() -> *const c_char {
    let message = MESSAGE.get();
    if state() & LOST != 0 {
        c"no memory is left for the message; the status says what kind of failure it was".as_ptr()
    } else if message.is_null() {
        c"".as_ptr()
    } else {
        message.cast_const().cast()
    }
}

/// Sets whether this thread is adopting. Returns whether it was before. If there is no room to note
/// it, a signal handler that interrupts the adoption and adopts too may wait for ever.
pub(crate) fn set_adopts(adopts: bool) -> bool {
    let before = state() & ADOPTS != 0;
    if before != adopts {
        set_state(ADOPTS, adopts);
    }
    before
}

fn state() -> usize {
    STATE.get().addr()
}

fn set_state(flag: usize, is_set: bool) {
    let before = state();
    let state = if is_set { before | flag } else { before & !flag };
    if state != before {
        STATE.set(without_provenance_mut(state), None);
    }
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

    #[test]
    fn a_message_that_was_lost_says_so_until_the_next_one() {
        set_state(LOST, true);
        assert!(kept().starts_with("no memory"));
        keep_message("again");
        assert_eq!(kept(), "again");
    }
}
