//! The libraries and programs whose loads are served.

use alloc::string::String;

/// Whether a file is one of the callers, by its name without folders. `libfoo.so.2` covers
/// `libfoo.so.2.1`, and `*` every file. What a Python wheel adds to the names of its libraries does
/// not count.
///
/// ```
/// use topobroker_slots::is_tried;
/// let callers = ["libfoo.so.2".to_string()];
/// assert!(is_tried(&callers, "libfoo.so.2.10.1") && is_tried(&callers, "libfoo-0a1b2c3d.so.2"));
/// assert!(!is_tried(&callers, "libfoo.so.20") && !is_tried(&callers, "libfoo.so"));
/// ```
#[must_use]
pub fn is_tried(callers: &[String], file: &str) -> bool {
    /// Digits that `auditwheel` puts behind the name of a library.
    const DIGITS: usize = 8;
    let wheel = file.split_once(".so").and_then(|(name, version)| {
        let (name, digits) = name.rsplit_once('-')?;
        let is_hash = digits.len() == DIGITS && digits.bytes().all(|it| it.is_ascii_hexdigit());
        is_hash.then(|| [name, ".so", version].concat())
    });
    let file = wheel.as_deref().unwrap_or(file);
    callers.iter().any(|caller| {
        let rest = file.strip_prefix(caller.as_str());
        caller == "*" || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}
