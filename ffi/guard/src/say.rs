//! Lines on standard error, each written at once, without the heap.

use core::fmt::{self, Write};

/// A line that is being put together. What does not fit is left out.
struct Line {
    bytes: [u8; 512],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The last byte is for the end of the line.
        let room = (self.bytes.len() - 1).saturating_sub(self.length).min(text.len());
        let end = self.length + room;
        if let (Some(to), Some(from)) =
            (self.bytes.get_mut(self.length..end), text.as_bytes().get(..room))
        {
            to.copy_from_slice(from);
            self.length = end;
        }
        Ok(())
    }
}

/// Writes a line to standard error.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    let mut line = Line { bytes: [0; 512], length: 0 };
    // SAFETY: the call takes nothing.
    let pid = unsafe { libc::getpid() };
    let _ = write!(line, "topobroker-guard[{pid}]: {text}");
    if let Some(end) = line.bytes.get_mut(line.length) {
        *end = b'\n';
    }
    // SAFETY: the pointer is to an array that is longer. If it cannot be written, there is no other
    // place to write to.
    unsafe { libc::write(libc::STDERR_FILENO, line.bytes.as_ptr().cast(), line.length + 1) };
}

/// Writes a line to standard error if the user asked for that.
macro_rules! say {
    ($($text:tt)*) => {
        if $crate::settings::is_verbose() {
            $crate::say::line(format_args!($($text)*));
        }
    };
}
pub(crate) use say;
