//! The errors of locations.

/// A location is malformed, or names something that the topology does not have.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LocationError {
    /// The text is not a location.
    #[error("location {text:?}: {reason} at position {position}; expected {expected}")]
    Malformed { text: String, position: usize, reason: &'static str, expected: &'static str },
    /// The topology has no objects of a type, or has them at several depths.
    #[error(
        "location {text:?}: the topology has {found}; expected objects at one depth, `topobroker \
         info` lists the depths"
    )]
    NoSuchLevel { text: String, found: String },
    /// There is no object with the index.
    #[error(
        "location {text:?}: there is no {level}:{index} below {below}, which has {count} of them"
    )]
    NoSuchObject { text: String, index: u32, level: String, below: String, count: usize },
    /// There is no device with the name.
    #[error(
        "location {text:?}: the topology has no {kind} named {name:?}; `topobroker ls -v` lists \
         the names"
    )]
    NoSuchDevice { text: String, kind: &'static str, name: String },
}

/// A [`LocationError::Malformed`] for `text`. The mistake is where `rest`, the end of `text`,
/// begins.
pub(super) fn malformed(
    text: &str,
    rest: &str,
    reason: &'static str,
    expected: &'static str,
) -> LocationError {
    let position = text.len().saturating_sub(rest.len());
    LocationError::Malformed { text: text.to_owned(), position, reason, expected }
}
