//! The header in front of every archive: fixed size, plain little-endian fields at fixed offsets.

use crate::error::HeaderError;
use alloc::format;
use alloc::string::String;

/// First bytes of every segment.
pub const MAGIC: [u8; 8] = *b"TOPOBRKR";

/// Major version of the format. Readers refuse any other.
pub const VERSION_MAJOR: u16 = 1;

/// Minor version of the format. Readers accept any. A new minor version may only give a meaning to
/// bytes of the header that were zero. It cannot change the archive, because rkyv finds the root of
/// an archive by the size of its structure.
pub const VERSION_MINOR: u16 = 0;

/// Number of bytes of the header. The archive follows it.
pub const HEADER_LEN: usize = 160;

/// Maximum number of bytes of a segment, header included. It is about a hundred times what the
/// largest machines need. A reader refuses a longer file before it reads or maps any of it.
pub const MAX_SEGMENT_LEN: u64 = 1 << 26;

/// Maximum number of bytes of a cluster: of about two million nodes.
pub const MAX_CLUSTER_LEN: u64 = 1 << 28;

/// The state word of a segment that may be adopted. Any other value means that it is still being
/// written.
pub const STATE_READY: u32 = 0x5944_4552;

words! {
    /// What a segment holds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Kind {
        /// The topology of a node.
        Topology => "topology",
        /// The overlay of a job, and the PUs of its ranks.
        Job => "job",
        /// Links that an administrator tells.
        Links => "links",
        /// Many nodes.
        Cluster => "cluster",
    }
}

words! {
    /// Whose resources a segment describes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[non_exhaustive]
    pub enum Scope {
        /// The whole machine.
        #[default]
        Machine => "machine",
        /// The part of the machine that the cgroup of the publisher allows.
        Cgroup => "cgroup",
        /// One job.
        Job => "job",
    }
}

words! {
    /// Where a topology was captured from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[non_exhaustive]
    pub enum Source {
        /// This machine, as hwloc discovered it.
        #[default]
        ThisMachine => "machine",
        /// An hwloc XML file.
        Xml => "xml",
        /// A synthetic description.
        Synthetic => "synthetic",
        /// The root of a saved Linux file system.
        Fsroot => "fsroot",
        /// A topology that the publisher had already loaded.
        Loaded => "loaded",
    }
}

/// The fields of a header, except for the magic, the state word, and the offset and length of the
/// archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Format version.
    pub version: (u16, u16),
    /// What the segment holds.
    pub kind: Kind,
    /// Whose resources it describes.
    pub scope: Scope,
    /// Where the topology was captured from.
    pub source: Source,
    /// Address at which every process maps the segment if it can; 0 means anywhere.
    pub address: u64,
    /// Number of bytes of the whole segment.
    pub size: u64,
    /// Checksum over the header (state and checksum left out) and the archive.
    pub checksum: u64,
    /// Random id of the segment, which no other segment has.
    pub segment_id: [u8; 16],
    /// How often the node's topology was published before.
    pub generation: u64,
    /// Id of the boot of the machine on which the segment was published.
    pub boot_id: [u8; 16],
    /// Pid of the publisher; 0 means that the segment is kept until it is unpublished.
    pub publisher_pid: u32,
    /// Inode of the pid namespace of the publisher; 0 means unknown.
    pub pid_namespace: u32,
    /// Start of the publisher in clock ticks since boot. It tells the publisher from a later
    /// process with the same pid.
    pub publisher_start: u64,
    /// Time of publication in nanoseconds since 1970.
    pub created: u64,
    /// Version of the hwloc that captured the topology, as `hwloc_get_api_version` returns it, such
    /// as 0x00020900.
    pub hwloc_version: u32,
}

const STATE_AT: usize = 12;
const CHECKSUM_AT: usize = 64;

impl Header {
    /// Reads the header at the start of `segment`. This checks only the form of the fields.
    /// [`crate::open`] checks the checksum, because that covers the archive too.
    ///
    /// # Errors
    ///
    /// [`HeaderError`] for the first field that is not as expected.
    pub fn read(segment: &[u8]) -> Result<Self, HeaderError> {
        let found = segment.len() as u64;
        let fields: &[u8; HEADER_LEN] = segment
            .first_chunk()
            .ok_or(HeaderError::Length { found, expected: HEADER_LEN as u64 })?;
        let fields = Fields(fields);
        let magic: [u8; 8] = fields.at(0);
        if magic != MAGIC {
            return Err(HeaderError::Magic { found: magic });
        }
        let version = (u16::from_le_bytes(fields.at(8)), u16::from_le_bytes(fields.at(10)));
        if version.0 != VERSION_MAJOR {
            return Err(HeaderError::Version { found: version, expected: VERSION_MAJOR });
        }
        let state = u32::from_le_bytes(fields.at(STATE_AT));
        if state != STATE_READY {
            return Err(HeaderError::NotReady { found: state });
        }
        let archive_at = fields.u64(40);
        if archive_at != HEADER_LEN as u64 {
            return Err(HeaderError::ArchiveOffset {
                found: archive_at,
                expected: HEADER_LEN as u64,
            });
        }
        let size = fields.u64(32);
        let kind = Kind::from_raw(fields.u32(16));
        let limit = if kind == Some(Kind::Cluster) { MAX_CLUSTER_LEN } else { MAX_SEGMENT_LEN };
        if size > limit {
            return Err(HeaderError::TooLong { found: size, limit });
        }
        let archive_len = fields.u64(48);
        if archive_at.checked_add(archive_len) != Some(size) {
            return Err(HeaderError::ArchiveLength { archive: archive_len, segment: size });
        }
        Ok(Self {
            version,
            kind: kind.ok_or(HeaderError::Kind { found: fields.u32(16) })?,
            scope: Scope::from_raw(fields.u32(20))
                .ok_or(HeaderError::Scope { found: fields.u32(20) })?,
            address: fields.u64(24),
            size,
            source: Source::from_raw(fields.u32(56))
                .ok_or(HeaderError::Source { found: fields.u32(56) })?,
            hwloc_version: fields.u32(60),
            checksum: fields.u64(CHECKSUM_AT),
            segment_id: fields.at(72),
            generation: fields.u64(88),
            boot_id: fields.at(96),
            publisher_start: fields.u64(112),
            created: fields.u64(120),
            publisher_pid: fields.u32(128),
            pid_namespace: fields.u32(132),
        })
    }

    /// Writes the header and `archive` as one segment into `out`, which must be exactly
    /// [`segment_len`] long. Size and checksum are computed; the values in `self` are ignored. The
    /// state word is left zero, so that the segment is not ready until [`mark_ready`].
    ///
    /// # Errors
    ///
    /// [`HeaderError::Length`] if `out` has another length, [`HeaderError::TooLong`] if the segment
    /// would have more than [`MAX_SEGMENT_LEN`] bytes.
    pub fn write(&self, archive: &[u8], out: &mut [u8]) -> Result<(), HeaderError> {
        let expected = segment_len(archive.len()) as u64;
        if expected > MAX_SEGMENT_LEN {
            return Err(HeaderError::TooLong { found: expected, limit: MAX_SEGMENT_LEN });
        }
        let found = out.len() as u64;
        let Some((head, body)) = out.split_first_chunk_mut::<HEADER_LEN>() else {
            return Err(HeaderError::Length { found, expected });
        };
        if body.len() != archive.len() {
            return Err(HeaderError::Length { found, expected });
        }
        body.copy_from_slice(archive);
        *head = self.sealed(expected, archive);
        Ok(())
    }

    /// The header of a segment of `size` bytes. Its checksum covers the header and `checked`: the
    /// archive, or the first page of a cluster. The state word is zero.
    pub(crate) fn sealed(&self, size: u64, checked: &[u8]) -> [u8; HEADER_LEN] {
        let mut head = [0; HEADER_LEN];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(field) = head.get_mut(at..at + bytes.len()) {
                field.copy_from_slice(bytes);
            }
        };
        put(0, &MAGIC);
        put(8, &self.version.0.to_le_bytes());
        put(10, &self.version.1.to_le_bytes());
        put(16, &self.kind.raw().to_le_bytes());
        put(20, &self.scope.raw().to_le_bytes());
        put(24, &self.address.to_le_bytes());
        put(32, &size.to_le_bytes());
        put(40, &(HEADER_LEN as u64).to_le_bytes());
        put(48, &(size.saturating_sub(HEADER_LEN as u64)).to_le_bytes());
        put(56, &self.source.raw().to_le_bytes());
        put(60, &self.hwloc_version.to_le_bytes());
        put(72, &self.segment_id);
        put(88, &self.generation.to_le_bytes());
        put(96, &self.boot_id);
        put(112, &self.publisher_start.to_le_bytes());
        put(120, &self.created.to_le_bytes());
        put(128, &self.publisher_pid.to_le_bytes());
        put(132, &self.pid_namespace.to_le_bytes());
        let checksum = checksum(&head, checked);
        if let Some(field) = head.get_mut(CHECKSUM_AT..CHECKSUM_AT + 8) {
            field.copy_from_slice(&checksum.to_le_bytes());
        }
        head
    }

    /// The segment id as text, 32 hexadecimal digits.
    #[must_use]
    pub fn segment_name(&self) -> String {
        segment_name(self.segment_id)
    }
}

/// A segment id as text, 32 hexadecimal digits.
#[must_use]
pub fn segment_name(id: [u8; 16]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Number of bytes of a segment with an archive of `archive_len` bytes.
#[must_use]
pub fn segment_len(archive_len: usize) -> usize {
    HEADER_LEN + archive_len
}

/// Sets the state word. This must be the last write to a segment before the segment is made
/// visible.
pub fn mark_ready(segment: &mut [u8]) {
    if let Some(state) = segment.get_mut(STATE_AT..STATE_AT + 4) {
        state.copy_from_slice(&STATE_READY.to_le_bytes());
    }
}

/// The checksum that a segment should have: XXH3-64 of the archive, seeded with XXH3-64 of the
/// header with state and checksum zero.
#[must_use]
pub(crate) fn checksum(header: &[u8; HEADER_LEN], archive: &[u8]) -> u64 {
    let mut fields = *header;
    for at in (STATE_AT..STATE_AT + 4).chain(CHECKSUM_AT..CHECKSUM_AT + 8) {
        if let Some(byte) = fields.get_mut(at) {
            *byte = 0;
        }
    }
    xxhash_rust::xxh3::xxh3_64_with_seed(archive, xxhash_rust::xxh3::xxh3_64(&fields))
}

struct Fields<'a>(&'a [u8; HEADER_LEN]);

impl Fields<'_> {
    fn at<const N: usize>(&self, offset: usize) -> [u8; N] {
        self.0.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }

    fn u32(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.at(offset))
    }

    fn u64(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.at(offset))
    }
}

impl Kind {
    fn raw(self) -> u32 {
        self as u32 + 1
    }

    fn from_raw(raw: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.raw() == raw)
    }
}

impl Scope {
    /// The number that stands for this value in a header.
    #[must_use]
    pub fn raw(self) -> u32 {
        self as u32 + 1
    }

    /// The value that a number in a header stands for, `None` if there is none.
    #[must_use]
    pub fn from_raw(raw: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.raw() == raw)
    }
}

impl Source {
    /// The number that stands for this value in a header.
    #[must_use]
    pub fn raw(self) -> u32 {
        self as u32 + 1
    }

    /// The value that a number in a header stands for, `None` if there is none.
    #[must_use]
    pub fn from_raw(raw: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.raw() == raw)
    }
}
