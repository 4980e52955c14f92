//! What is removed when a process ends in the ordinary way, though nothing owns it any more.
//!
//! A C program that returns from `main` frees nothing, and statics are never dropped.

use crate::load::election;
use crate::publish;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// What a process leaves behind if nobody removes it before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    /// A segment, with what is beside it.
    Segment(PathBuf),
    /// A ballot of an election that it has won.
    Ballot(PathBuf),
}

/// Each with the process that has left it: a child of a fork has the list, but nothing of it is its own.
static ALL: Mutex<Vec<(u32, Left)>> = Mutex::new(Vec::new());

/// Has something removed at the exit of this process.
pub(crate) fn remove_at_exit(left: Left) {
    static REGISTERED: Once = Once::new();
    ALL.lock().unwrap_or_else(PoisonError::into_inner).push((std::process::id(), left));
    REGISTERED.call_once(|| {
        // SAFETY: a function that may be called at exit: it takes and returns nothing. It is gone only
        // with the object that it is in, and then the C library has called it before.
        unsafe { libc::atexit(at_exit) };
    });
}

/// A segment that is removed already.
pub(crate) fn forget(segment: &Path) {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|(_, left)| !matches!(left, Left::Segment(file) if file == segment));
}

extern "C" fn at_exit() {
    // Another thread may hold it for ever in a child of a fork; then nothing of it is this process's.
    let Ok(mut all) = ALL.try_lock() else { return };
    let me = std::process::id();
    for (_, left) in all.drain(..).filter(|(owner, _)| *owner == me) {
        match left {
            // Nobody is left to tell; `unpublish --stale` finds what stays.
            Left::Segment(file) => _ = publish::remove(&file),
            Left::Ballot(file) => election::close(&file),
        }
    }
}
