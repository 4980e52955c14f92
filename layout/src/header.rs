//! The header in front of every archive: fixed size, plain little-endian fields at fixed offsets.

use crate::error::HeaderError;
use alloc::format;
use alloc::string::String;

/// First bytes of every segment.
pub const MAGIC: [u8; 8] = *b"TOPOBRKR";

/// Major version of the format. Readers refuse any other.
pub const VERSION_MAJOR: u32 = 1;

/// Minor version of the format. Readers accept any. A new minor version may only give a meaning to
/// bytes of the header that were zero. It cannot change the archive, because rkyv finds the root of
/// an archive by the size of its structure.
pub const VERSION_MINOR: u32 = 0;

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
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[non_exhaustive]
    pub enum Kind {
        /// The topology of a node.
        #[default]
        Topology => "topology",
        /// The overlay of a job, and the PUs of its ranks.
        Job => "job",
        /// Links that an administrator declares.
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
/// archive. The default has version 0.0 and is of a topology that no process has published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// Format version.
    pub version: (u32, u32),
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
    /// Start of the publisher in clock ticks since boot. It distinguishes the publisher from a
    /// later process with the same pid.
    pub publisher_start: u64,
    /// Time of publication in nanoseconds since 1970.
    pub created: u64,
    /// Version of the hwloc that captured the topology, as `hwloc_get_api_version` returns it, such
    /// as 0x00020900.
    pub hwloc_version: u32,
    /// Version of the rules by which the publisher has checked the archive
    /// ([`RULES`](crate::RULES)); 0 if it has not.
    pub certificate: u32,
}

const STATE_AT: usize = 12;
const CHECKSUM_AT: usize = 16;
/// Where the bytes begin that the checksum covers. Those in front of it have one right value each.
const COVERED_AT: usize = 24;

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
        let version = (fields.u32(8), fields.u32(24));
        if version.0 != VERSION_MAJOR {
            return Err(HeaderError::Version { found: version, expected: VERSION_MAJOR });
        }
        let state = u32::from_le_bytes(fields.at(STATE_AT));
        if state != STATE_READY {
            return Err(HeaderError::NotReady { found: state });
        }
        let archive_at = fields.u64(56);
        if archive_at != HEADER_LEN as u64 {
            return Err(HeaderError::ArchiveOffset {
                found: archive_at,
                expected: HEADER_LEN as u64,
            });
        }
        let size = fields.u64(48);
        let kind = Kind::from_raw(fields.u32(28));
        let limit = if kind == Some(Kind::Cluster) { MAX_CLUSTER_LEN } else { MAX_SEGMENT_LEN };
        if size > limit {
            return Err(HeaderError::TooLong { found: size, limit });
        }
        let archive_len = fields.u64(64);
        if archive_at.checked_add(archive_len) != Some(size) {
            return Err(HeaderError::ArchiveLength { archive: archive_len, segment: size });
        }
        Ok(Self {
            version,
            kind: kind.ok_or(HeaderError::Kind { found: fields.u32(28) })?,
            scope: Scope::from_raw(fields.u32(32))
                .ok_or(HeaderError::Scope { found: fields.u32(32) })?,
            address: fields.u64(40),
            size,
            source: Source::from_raw(fields.u32(36))
                .ok_or(HeaderError::Source { found: fields.u32(36) })?,
            hwloc_version: fields.u32(140),
            checksum: fields.u64(CHECKSUM_AT),
            segment_id: fields.at(72),
            generation: fields.u64(88),
            boot_id: fields.at(96),
            publisher_start: fields.u64(112),
            created: fields.u64(120),
            publisher_pid: fields.u32(128),
            pid_namespace: fields.u32(132),
            certificate: fields.u32(136),
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
        *head = self.unsealed(expected);
        seal(out);
        Ok(())
    }

    /// The header of a segment of `size` bytes, without checksum. The state word is zero.
    pub(crate) fn unsealed(&self, size: u64) -> [u8; HEADER_LEN] {
        let mut head = [0; HEADER_LEN];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(field) = head.get_mut(at..at + bytes.len()) {
                field.copy_from_slice(bytes);
            }
        };
        put(0, &MAGIC);
        put(8, &self.version.0.to_le_bytes());
        put(24, &self.version.1.to_le_bytes());
        put(28, &self.kind.raw().to_le_bytes());
        put(32, &self.scope.raw().to_le_bytes());
        put(36, &self.source.raw().to_le_bytes());
        put(40, &self.address.to_le_bytes());
        put(48, &size.to_le_bytes());
        put(56, &(HEADER_LEN as u64).to_le_bytes());
        put(64, &(size.saturating_sub(HEADER_LEN as u64)).to_le_bytes());
        put(72, &self.segment_id);
        put(88, &self.generation.to_le_bytes());
        put(96, &self.boot_id);
        put(112, &self.publisher_start.to_le_bytes());
        put(120, &self.created.to_le_bytes());
        put(128, &self.publisher_pid.to_le_bytes());
        put(132, &self.pid_namespace.to_le_bytes());
        put(136, &self.certificate.to_le_bytes());
        put(140, &self.hwloc_version.to_le_bytes());
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

/// Writes the checksum of a segment, or of the first page of a cluster, into its header.
pub(crate) fn seal(segment: &mut [u8]) {
    let checksum = checksum(segment);
    if let Some(field) = segment.get_mut(CHECKSUM_AT..COVERED_AT) {
        field.copy_from_slice(&checksum.to_le_bytes());
    }
}

/// The checksum that a segment, or the first page of a cluster, should have: XXH3-64 of all bytes
/// behind that of the checksum.
#[must_use]
pub(crate) fn checksum(segment: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(segment.get(COVERED_AT..).unwrap_or_default())
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

/// The numbers of values in a header, from 1 on.
macro_rules! numbered {
    ($($name:ident),*) => { $(
        impl $name {
            /// The number that stands for this value in a header.
            #[must_use]
            pub fn raw(self) -> u32 {
                self as u32 + 1
            }

            /// The value that a number in a header stands for, `None` if there is none.
            #[must_use]
            pub fn from_raw(raw: u32) -> Option<Self> {
                Self::ALL.into_iter().find(|it| it.raw() == raw)
            }
        }
    )* };
}

numbered!(Kind, Scope, Source);
