//! Files of the kernel with names in them, which may be any bytes.

use std::io;
use std::path::Path;
use topobroker_process::{FilePath, file_within};

/// The text of a file of `/proc`. A process may be called anything, and the kernel cuts long names
/// in the middle of a letter: bytes that are not UTF-8 become replacement characters, and all else
/// can be read.
///
/// ```
/// let status = topobroker::linux::kernel_text("/proc/self/status")?;
/// assert!(status.starts_with("Name:"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The error of reading.
pub fn kernel_text(file: impl AsRef<Path>) -> io::Result<String> {
    Ok(file_within(u64::MAX, &FilePath::from(file.as_ref()))?)
}
