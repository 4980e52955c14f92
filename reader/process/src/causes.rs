//! Errors as one line.

use alloc::format;
use alloc::string::{String, ToString};
use core::error::Error;

/// The text of an error with those of its causes, but for those that it ends with already.
///
/// ```
/// use topobroker_process::{FileError, OsError, with_causes};
/// let absent = FileError::Os(OsError::from_raw_os_error(2));
/// assert_eq!(with_causes(&absent), "No such file or directory (os error 2)");
/// ```
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    for cause in core::iter::successors(error.source(), |&cause| cause.source()) {
        let cause = cause.to_string();
        if !text.ends_with(&cause) {
            text += &format!(": {cause}");
        }
    }
    text
}
