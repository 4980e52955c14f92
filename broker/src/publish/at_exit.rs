//! What is removed when a process ends in the ordinary way, though nothing owns it any more.
//!
//! A C program that returns from `main` frees nothing, and statics are never dropped.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// A file that a process leaves behind if nobody removes it before, and how it is removed.
struct Left {
    /// The process: a child of a fork has the list too, but nothing of it is its own.
    owner: u32,
    file: PathBuf,
    remove: fn(&Path),
}

static ALL: Mutex<Vec<Left>> = Mutex::new(Vec::new());

/// Has a file removed at the exit of this process.
pub(crate) fn remove_at_exit(file: PathBuf, remove: fn(&Path)) {
    static REGISTERED: Once = Once::new();
    let left = Left { owner: std::process::id(), file, remove };
    ALL.lock().unwrap_or_else(PoisonError::into_inner).push(left);
    REGISTERED.call_once(|| {
        // SAFETY: a function that may be called at exit: it takes and returns nothing. It is gone only
        // with the object that it is in, and then the C library has called it before.
        unsafe { libc::atexit(at_exit) };
    });
}

/// A file that is removed already.
pub(crate) fn forget(file: &Path) {
    ALL.lock().unwrap_or_else(PoisonError::into_inner).retain(|left| left.file != file);
}

extern "C" fn at_exit() {
    // Another thread may hold it for ever in a child of a fork; then nothing of it is this process's.
    let Ok(mut all) = ALL.try_lock() else { return };
    let me = std::process::id();
    for left in all.drain(..).filter(|left| left.owner == me) {
        (left.remove)(&left.file);
    }
}
