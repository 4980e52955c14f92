//! The errors of locations.

/// A location is malformed, or names something that the topology does not have.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocationError {
    /// The text is not a location.
    #[error("location {text:?}: {reason} at position {position}; expected {expected}")]
    Malformed {
        /// The location.
        text: String,
        /// Position of the mistake in the text, from 0.
        position: usize,
        /// What is wrong.
        reason: &'static str,
        /// What is expected there.
        expected: &'static str,
    },
    /// The topology has no objects of a type, or has them at several depths.
    #[error(
        "location {text:?}: the topology has {found}; expected objects at one depth, `topobroker info` lists the depths"
    )]
    NoSuchLevel {
        /// The location.
        text: String,
        /// What the topology has instead.
        found: String,
    },
    /// There is no object with the index.
    #[error(
        "location {text:?}: there is no {level}:{index} below {below}, which has {count} of them"
    )]
    NoSuchObject {
        /// The location.
        text: String,
        /// The index.
        index: u32,
        /// The level.
        level: String,
        /// The object above.
        below: String,
        /// Number of objects of the level below that object.
        count: usize,
    },
    /// There is no device with the name.
    #[error(
        "location {text:?}: the topology has no {kind} named {name:?}; `topobroker ls -v` lists the names"
    )]
    NoSuchDevice {
        /// The location.
        text: String,
        /// Type of the device.
        kind: &'static str,
        /// The name.
        name: String,
    },
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
