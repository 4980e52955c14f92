//! What can be wrong with a location.

/// A location is not written as one, or names what the topology has not.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocationError {
    /// Not written as a location.
    #[error("location {text:?}: {reason} at position {position}; expected {expected}")]
    Malformed {
        /// The location.
        text: String,
        /// Place of what is wrong in it, from 0.
        position: usize,
        /// What is wrong.
        reason: &'static str,
        /// What may be there.
        expected: &'static str,
    },
    /// The topology has no objects of a type, or has them at several depths.
    #[error(
        "location {text:?}: the topology has {found}; expected objects at one depth, `topobroker info` lists the depths"
    )]
    NoSuchLevel {
        /// The location.
        text: String,
        /// What it has instead.
        found: String,
    },
    /// There is no object of an index.
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
        /// How many objects of the level there are below that.
        count: usize,
    },
    /// There is no device of a name.
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

/// The error of a text whose rest is wrong.
pub(super) fn malformed(
    text: &str,
    rest: &str,
    reason: &'static str,
    expected: &'static str,
) -> LocationError {
    let position = text.len().saturating_sub(rest.len());
    LocationError::Malformed { text: text.to_owned(), position, reason, expected }
}
