//! Whether standard output was closed when this program was started. The Rust runtime opens `/dev/null` in its place
//! before `main`, so it is looked at before that.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Run by the dynamic loader before the runtime starts.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: only looks at a descriptor, which need not be open.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    IS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// Whether standard output was closed then.
pub(super) fn was_standard_output_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}
