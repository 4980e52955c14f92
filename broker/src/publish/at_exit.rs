//! Removes files when a process exits normally.
//!
//! Destructors do not suffice: a C program that returns from `main` frees nothing, and statics are
//! never dropped.

use parking_lot::{Mutex, Once};
use std::path::{Path, PathBuf};

/// A file to remove at exit, and the function that removes it.
struct Left {
    /// The process that removes the file. A forked child inherits the list, but does not own its
    /// files.
    owner: u32,
    file: PathBuf,
    remove: fn(&Path),
}

static ALL: Mutex<Vec<Left>> = Mutex::new(Vec::new());

/// Registers a file to be removed when this process exits.
pub(crate) fn remove_at_exit(file: PathBuf, remove: fn(&Path)) {
    static REGISTERED: Once = Once::new();
    let left = Left { owner: std::process::id(), file, remove };
    ALL.lock().push(left);
    REGISTERED.call_once(|| {
        // SAFETY: `at_exit` has the signature that `atexit` expects. It cannot be unloaded before
        // it is called: the C library calls it when the shared object that contains it is unloaded.
        unsafe { libc::atexit(at_exit) };
    });
}

/// Takes a file off the list, because it is removed now or left to another process.
pub(crate) fn forget(file: &Path) {
    ALL.lock().retain(|left| left.file != file);
}

extern "C" fn at_exit() {
    // In a forked child the lock may be held for ever, because its holder was a thread of the
    // parent. The child owns no file of the list.
    let Some(mut all) = ALL.try_lock() else { return };
    let me = std::process::id();
    for left in all.drain(..).filter(|left| left.owner == me) {
        (left.remove)(&left.file);
    }
}
