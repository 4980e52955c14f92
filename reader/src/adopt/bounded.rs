//! Reads input up to a limit, because its length is unknown: a file may be a device that never
//! ends.

use std::io::{self, Read};

/// Reads a text of at most `most` bytes to its end.
///
/// ```
/// let text = topobroker_reader::internal::text_within(4, b"0-3\n".as_slice())?;
/// assert_eq!(text, "0-3\n");
/// assert!(topobroker_reader::internal::text_within(4, std::io::repeat(b'0')).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// `FileTooLarge` if there are more bytes, `InvalidData` if they are not UTF-8, else the error of
/// reading.
pub fn text_within(most: u64, source: impl Read) -> io::Result<String> {
    let bytes = bytes_within(most, source)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads at most `most` bytes, to the end of the input.
///
/// # Errors
///
/// `FileTooLarge` if there are more bytes, else the error of reading.
pub fn bytes_within(most: u64, source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most {
        return Ok(bytes);
    }
    Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("has more than {most} bytes")))
}
