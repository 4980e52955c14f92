//! Names in which a star stands for anything.

/// Whether a name is the pattern, or has what is before and behind the star of the pattern.
///
/// ```
/// use topobroker::name_pattern::is_like;
/// assert!(is_like("n0*", "n017") && is_like("n017", "n017") && !is_like("n0*7", "n018"));
/// ```
#[must_use]
pub fn is_like(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}
