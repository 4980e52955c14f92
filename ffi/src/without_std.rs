//! What a library without the standard library must bring: what to do if it panics.
//!
//! No input makes the thin library panic; a panic would be a mistake in it. It says where, in one
//! line, and ends the process. Nothing unwinds.

use core::fmt::{self, Write};
use core::panic::PanicInfo;

/// The error output of the process.
struct ErrorOutput;

impl Write for ErrorOutput {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the pointer is to `len` bytes. If they cannot be written, there is no other place
        // to write to.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        Ok(())
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let message = info.message();
    _ = match info.location() {
        Some(place) => writeln!(ErrorOutput, "topobroker-reader: fault at {place}: {message}"),
        None => writeln!(ErrorOutput, "topobroker-reader: fault: {message}"),
    };
    // SAFETY: `abort` may be called at any time.
    unsafe { libc::abort() }
}

/// Never called. The library that comes with the compiler is built to unwind, and refers to this
/// function and to [`_Unwind_Resume`]. With `panic = "abort"` nothing unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// See [`rust_eh_personality`].
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    // SAFETY: `abort` may be called at any time.
    unsafe { libc::abort() }
}
