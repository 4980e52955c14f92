//! Why a segment is refused.

/// A field of the header is not as expected.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderError {
    /// Too few bytes for the header, or for what the header says.
    #[error("{found} bytes, expected {expected}")]
    Short {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be.
        expected: u64,
    },
    /// More bytes than any segment has.
    #[error("{found} bytes, expected {limit} at most: no segment is that long")]
    Long {
        /// Bytes there would be.
        found: u64,
        /// Most bytes of a segment.
        limit: u64,
    },
    /// This is something else.
    #[error("starts with {found:02x?}, expected \"TOPOBRKR\": not a topobroker segment")]
    Magic {
        /// The first bytes.
        found: [u8; 8],
    },
    /// Written in a format that this reader does not know.
    #[error("format version {}.{}, expected {expected}.x: reader and broker are too far apart", found.0, found.1)]
    Version {
        /// Version of the segment, major and minor.
        found: (u16, u16),
        /// Major version that this reader knows.
        expected: u16,
    },
    /// The publisher has not finished.
    #[error("state word {found:#x}: half-written, its publisher has not finished")]
    NotReady {
        /// The state word.
        found: u32,
    },
    /// The archive does not start behind the header.
    #[error("archive at offset {found}, expected {expected}")]
    ArchiveOffset {
        /// Offset in the header.
        found: u64,
        /// Where it must be.
        expected: u64,
    },
    /// Lengths in the header contradict each other.
    #[error("an archive of {archive} bytes in a segment of {segment}: the lengths do not fit")]
    ArchiveLength {
        /// Length of the archive.
        archive: u64,
        /// Length of the segment.
        segment: u64,
    },
    /// Unknown kind of segment.
    #[error("segment kind {found}, expected 1 (topology) or 2 (job)")]
    Kind {
        /// The number found.
        found: u32,
    },
    /// A segment of something else than was asked for.
    #[error("holds a {found}, expected a {expected}")]
    OtherKind {
        /// What it holds.
        found: &'static str,
        /// What was asked for.
        expected: &'static str,
    },
    /// Unknown scope.
    #[error("scope {found}, expected 1 to 3")]
    Scope {
        /// The number found.
        found: u32,
    },
    /// Unknown source.
    #[error("source {found}, expected 1 to 5")]
    Source {
        /// The number found.
        found: u32,
    },
}

/// Why bytes are not a topology segment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The header is not that of a segment which this reader knows.
    #[error("its header cannot be used")]
    Header(#[from] HeaderError),
    /// The bytes are not those that were published.
    #[error("checksum {found:#018x}, expected {expected:#018x}: the segment is damaged")]
    Checksum {
        /// Over the bytes there are.
        found: u64,
        /// In the header.
        expected: u64,
    },
    /// The archive is not where rkyv can read it.
    #[error("its archive cannot be read")]
    Archive(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The archive can be read, but breaks a rule.
    #[error("its archive breaks a rule")]
    Invalid(#[from] ValidationError),
}

/// An invariant of the archive does not hold.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
#[error("{column}, row {row}: {rule}")]
pub struct ValidationError {
    /// Column with the bad value.
    pub column: &'static str,
    /// Row with the bad value.
    pub row: usize,
    /// What must hold there.
    pub rule: &'static str,
}
