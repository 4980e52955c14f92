//! Errors of the kernel.

use core::error::Error;
use core::ffi::CStr;
use core::fmt;
use rustix::io::Errno;

/// An error of the kernel, by its number. Its text is that of the C library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OsError(i32);

impl OsError {
    /// The error with a number: `ENOENT`, for example.
    #[must_use]
    pub fn from_raw_os_error(number: i32) -> Self {
        Self(number)
    }

    /// Number of the error.
    #[must_use]
    pub fn raw_os_error(self) -> i32 {
        self.0
    }

    /// Whether it is this error.
    #[must_use]
    pub fn is(self, errno: Errno) -> bool {
        self.0 == errno.raw_os_error()
    }
}

impl From<Errno> for OsError {
    fn from(errno: Errno) -> Self {
        Self(errno.raw_os_error())
    }
}

impl fmt::Display for OsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, mut room) = (self.raw_os_error(), [0u8; 128]);
        // SAFETY: `room` has the length that is passed, and the text is cut to it.
        unsafe { libc::strerror_r(number, room.as_mut_ptr().cast(), room.len()) };
        let text = CStr::from_bytes_until_nul(&room).unwrap_or_default();
        write!(f, "{} (os error {number})", text.to_str().unwrap_or_default())
    }
}

impl fmt::Debug for OsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for OsError {}

#[cfg(feature = "std")]
impl From<OsError> for std::io::Error {
    fn from(error: OsError) -> Self {
        Self::from_raw_os_error(error.raw_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_kernel_reads_as_the_standard_library_writes_it() {
        for errno in [Errno::NOENT, Errno::ACCESS, Errno::NOMEM, Errno::XDEV] {
            let theirs = std::io::Error::from_raw_os_error(errno.raw_os_error());
            assert_eq!(OsError::from(errno).to_string(), theirs.to_string());
        }
    }
}
