//! What is removed when a process ends in the ordinary way, though nothing owns it any more.

use crate::load::election;
use crate::publish::Publication;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

static KEPT: Mutex<Vec<(Publication, PathBuf)>> = Mutex::new(Vec::new());

/// Keeps a publication, and the ballot that tells of it, as long as this process runs.
pub(crate) fn keep_until_exit(publication: Publication, ballot: PathBuf) {
    static REGISTERED: OnceLock<()> = OnceLock::new();
    if let Ok(mut kept) = KEPT.lock() {
        kept.push((publication, ballot));
    }
    REGISTERED.get_or_init(|| {
        // SAFETY: a function that may be called at exit: it takes and returns nothing, and stays
        // where it is, for this code is never unloaded before (libraries are linked nodelete).
        unsafe { libc::atexit(at_exit) };
    });
}

extern "C" fn at_exit() {
    // Another thread may be at it; a child of a fork drops them too, and they know that they are not its.
    if let Ok(mut kept) = KEPT.try_lock() {
        for (publication, ballot) in kept.drain(..) {
            drop(publication);
            election::close(&ballot);
        }
    }
}
