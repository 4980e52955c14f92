//! The bytes of a report: a magic, the fields with their lengths, and a checksum.

use super::error::GatherError;
use xxhash_rust::xxh3::xxh3_64;

/// First bytes of a report.
pub(super) const MAGIC: &[u8; 8] = b"TOPONODE";

/// A report, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) boot: [u8; 16],
    pub(super) class: u128,
    pub(super) body: Body,
}

/// What a report has of the topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Body {
    /// Nothing: only the class is told.
    Hash,
    /// The archive.
    Whole(Vec<u8>),
    /// What differs from the first node of the class, whose archive has this hash.
    Difference(u64, Vec<u8>),
}

impl Frame {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::from(MAGIC);
        let mut put = |field: &[u8]| {
            let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(field);
        };
        put(self.name.as_bytes());
        put(&self.boot);
        put(&self.class.to_le_bytes());
        match &self.body {
            Body::Hash => put(&[0]),
            Body::Whole(archive) => {
                put(&[1]);
                put(archive);
            }
            Body::Difference(base, values) => {
                put(&[2]);
                put(&base.to_le_bytes());
                put(values);
            }
        }
        let check = xxh3_64(&bytes);
        bytes.extend_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads a report at the start of `bytes`. `from` is for errors. What follows is left out.
    pub(super) fn read(from: &str, bytes: &[u8]) -> Result<Self, GatherError> {
        let damaged = |what| GatherError::Damaged { from: from.to_owned(), what };
        let short = || damaged("ends too early");
        let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("has another start"))?;
        let mut next = || {
            let (length, after) = rest.split_first_chunk().ok_or_else(short)?;
            let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
            let (field, after) = after.split_at_checked(length).ok_or_else(short)?;
            rest = after;
            Ok::<&[u8], GatherError>(field)
        };
        let name =
            String::from_utf8(next()?.to_vec()).map_err(|_| damaged("has no text as name"))?;
        let boot = next()?.first_chunk().copied().ok_or_else(short)?;
        let class = next()?.first_chunk().copied().ok_or_else(short)?;
        let body = match next()? {
            [0] => Body::Hash,
            [1] => Body::Whole(next()?.to_vec()),
            [2] => {
                let base = next()?.first_chunk().copied().ok_or_else(short)?;
                Body::Difference(u64::from_le_bytes(base), next()?.to_vec())
            }
            _ => return Err(damaged("is of an unknown kind")),
        };
        let length = bytes.len() - rest.len();
        let check = rest.first_chunk().copied().ok_or_else(short)?;
        if bytes.get(..length).map(xxh3_64) != Some(u64::from_le_bytes(check)) {
            return Err(damaged("has a wrong checksum"));
        }
        Ok(Self { name, boot, class: u128::from_le_bytes(class), body })
    }

    /// All reports that follow each other in `bytes`.
    pub(super) fn read_all(from: &str, mut bytes: &[u8]) -> Result<Vec<Self>, GatherError> {
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let frame = Self::read(from, bytes)?;
            bytes = bytes.get(frame.to_bytes().len()..).unwrap_or_default();
            frames.push(frame);
        }
        Ok(frames)
    }
}
