//! Reads input up to a limit, because its length is unknown: a file may be a device that never
//! ends.

use crate::file_error::FileError;
use crate::file_path::FilePath;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use rustix::fd::AsFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Reads a text of at most `most` bytes to its end.
///
/// ```
/// # let file = std::env::temp_dir().join(format!("topobroker-{}", std::process::id()));
/// std::fs::write(&file, "0-3\n")?;
/// let text = topobroker_process::text_within(4, std::fs::File::open(&file)?)?;
/// assert_eq!(text, "0-3\n");
/// # std::fs::remove_file(&file)?;
/// let endless = std::fs::File::open("/dev/zero")?;
/// assert!(topobroker_process::text_within(4, endless).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`FileError::TooLong`] if there are more bytes, [`FileError::Content`] if they are not UTF-8,
/// otherwise the error of reading.
pub fn text_within(most: u64, source: impl AsFd) -> Result<String, FileError> {
    text_of(bytes_within(most, source)?)
}

/// A function of its own, because the one above is compiled into each crate that calls it. The
/// tables of pointers that its error needs are here once.
fn text_of(bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| FileError::Content(Box::new(error)))
}

/// Reads a file of the kernel, of at most `most` bytes, as text. Names of processes and paths in it
/// may be any bytes: those that are not UTF-8 become replacement characters.
///
/// # Errors
///
/// Those of [`bytes_within`], and of opening the file.
pub fn file_within(most: u64, path: &FilePath) -> Result<String, FileError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let bytes = bytes_within(most, rustix::fs::open(path.as_bytes(), flags, Mode::empty())?)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads at most `most` bytes, to the end of the input.
///
/// # Errors
///
/// [`FileError::TooLong`] if there are more bytes, otherwise the error of reading.
pub fn bytes_within(most: u64, source: impl AsFd) -> Result<Vec<u8>, FileError> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        match rustix::io::read(source.as_fd(), &mut chunk) {
            Ok(0) => return Ok(bytes),
            Ok(read) => bytes.extend_from_slice(chunk.get(..read).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if bytes.len() as u64 > most {
            return Err(FileError::TooLong { limit: most });
        }
    }
}
