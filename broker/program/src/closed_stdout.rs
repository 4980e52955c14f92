//! Whether standard output was closed when this program was started. The check runs before
//! the Rust runtime starts, because the runtime opens `/dev/null` in place of a closed standard
//! output.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Entry that makes the dynamic loader call `look` before the Rust runtime starts.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: F_GETFD only reads the flags of a descriptor, and fails if the descriptor is not
    // open.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    IS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Whether standard output was closed when this program was started.
pub(super) fn was_standard_output_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}
