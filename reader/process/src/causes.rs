//! Errors as one line.

use alloc::format;
use alloc::string::{String, ToString};
use core::error::Error;

/// The text of an error, and behind it those of its causes. A cause is left out if the text ends
/// with it already, because some errors of other crates have the text of their cause.
///
/// ```
/// use topobroker_process::with_causes;
/// # use std::{error::Error, fmt};
/// #[derive(Debug)]
/// struct Refused(&'static str, Option<Box<Refused>>);
/// # impl fmt::Display for Refused {
/// #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.0) }
/// # }
/// # impl Error for Refused {
/// #     fn source(&self) -> Option<&(dyn Error + 'static)> { self.1.as_deref().map(|it| it as _) }
/// # }
/// let cause = || Some(Box::new(Refused("not found", None)));
/// assert_eq!(with_causes(&Refused("cannot open /a", cause())), "cannot open /a: not found");
/// assert_eq!(with_causes(&Refused("/a: not found", cause())), "/a: not found");
/// ```
// Inlined, because `format!` needs tables of pointers in each crate that uses it. This crate uses
// it nowhere else, and its callers have them anyway.
#[inline]
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
