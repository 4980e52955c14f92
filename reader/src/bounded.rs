//! Text from outside, which nobody says the length of.

use std::io::{self, Read};

/// Reads text to its end, if that is within `most` bytes: a file may be a device that never ends.
///
/// ```
/// let text = topobroker_reader::read_bounded(b"0-3\n".as_slice(), 4)?;
/// assert_eq!(text, "0-3\n");
/// assert!(topobroker_reader::read_bounded(std::io::repeat(b'0'), 4).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// `FileTooLarge` where there is more, else as reading fails.
pub fn read_bounded(source: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    source.take(most.saturating_add(1)).read_to_string(&mut text)?;
    if text.len() as u64 <= most {
        return Ok(text);
    }
    Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("has more than {most} bytes")))
}
