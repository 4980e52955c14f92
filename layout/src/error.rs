//! Errors: why a segment is refused.

use alloc::boxed::Box;

/// A field of the header is not as expected.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum HeaderError {
    /// The number of bytes is too low for a header, or differs from the size in the header.
    #[error("{found} bytes, expected {expected}")]
    Length { found: u64, expected: u64 },
    /// More bytes than a segment may have.
    #[error("{found} bytes, expected {limit} at most: no segment is that long")]
    TooLong { found: u64, limit: u64 },
    /// The first bytes are not those of a segment: the file is something else.
    #[error("starts with {found:02x?}, expected \"TOPOBRKR\": not a topobroker segment")]
    Magic { found: [u8; 8] },
    /// The major version of the format is not the one that this reader knows.
    #[error("format version {}.{}, expected {expected}.x: reader and broker are too far \
             apart", found.0, found.1)]
    Version { found: (u32, u32), expected: u32 },
    /// The state word says that the publisher has not finished.
    #[error("state word {found:#x}: half-written, its publisher has not finished")]
    NotReady { found: u32 },
    /// The archive does not start right after the header.
    #[error("archive at offset {found}, expected {expected}")]
    ArchiveOffset { found: u64, expected: u64 },
    /// Lengths in the header contradict each other.
    #[error("an archive of {archive} bytes in a segment of {segment}: the lengths do not fit")]
    ArchiveLength { archive: u64, segment: u64 },
    /// Unknown kind of segment.
    #[error("segment kind {found}, expected 1 (topology), 2 (job), 3 (links) or 4 (cluster)")]
    Kind { found: u32 },
    /// The segment holds something else than the caller asked for.
    #[error("holds a {found}, expected a {expected}")]
    OtherKind { found: &'static str, expected: &'static str },
    /// Unknown scope.
    #[error("scope {found}, expected 1 to 3")]
    Scope { found: u32 },
    /// Unknown source.
    #[error("source {found}, expected 1 to 5")]
    Source { found: u32 },
}

/// Why bytes are not a topology segment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum OpenError {
    /// The header is not one that this reader can use.
    #[error("its header cannot be used")]
    Header(#[from] HeaderError),
    /// The bytes are not those that were published.
    #[error("checksum {found:#018x}, expected {expected:#018x}: the segment is damaged")]
    Checksum { found: u64, expected: u64 },
    /// rkyv cannot read the archive.
    #[error("its archive cannot be read")]
    Archive(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// The archive can be read, but breaks a rule.
    #[error("its archive breaks a rule")]
    Invalid(#[from] ValidationError),
}

/// A rule of an archive, an overlay or a job is broken. `FORMAT.md` has all rules.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
#[error("{column}, row {row}: {rule}")]
pub struct ValidationError {
    /// Column with the bad value.
    pub column: &'static str,
    /// Row with the bad value.
    pub row: usize,
    /// The rule that the value breaks.
    pub rule: &'static str,
}
