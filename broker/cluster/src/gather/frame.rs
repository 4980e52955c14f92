//! The bytes of a report: a magic, the fields with their lengths, and a checksum.

use super::error::GatherError;
use xxhash_rust::xxh3::xxh3_64;

/// First bytes of a report. The last one is the version: both ends of a gathering must be of one.
pub(super) const MAGIC: &[u8; 8] = b"TOPONOD1";

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
    /// Nothing: only the class is sent. Of class 0 among known reports, it asks nodes of a class
    /// that is not known to send only their class.
    Hash,
    /// The archive.
    Whole(Vec<u8>),
    /// What differs from the first node of the class, whose archive has this hash.
    Difference(u64, Vec<u8>),
    /// Why the node cannot be reported.
    Failed(String),
}

impl Frame {
    /// Number of bytes of what it has of the topology, or says.
    pub(super) fn length(&self) -> usize {
        match &self.body {
            Body::Hash => 0,
            Body::Whole(bytes) | Body::Difference(_, bytes) => bytes.len(),
            Body::Failed(reason) => reason.len(),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::from(MAGIC);
        let put = |bytes: &mut Vec<u8>, field: &[u8]| {
            let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(field);
        };
        put(&mut bytes, self.name.as_bytes());
        bytes.extend_from_slice(&self.boot);
        bytes.extend_from_slice(&self.class.to_le_bytes());
        match &self.body {
            Body::Hash => bytes.push(0),
            Body::Whole(archive) => {
                bytes.push(1);
                put(&mut bytes, archive);
            }
            Body::Difference(base, values) => {
                bytes.push(2);
                bytes.extend_from_slice(&base.to_le_bytes());
                put(&mut bytes, values);
            }
            Body::Failed(reason) => {
                bytes.push(3);
                put(&mut bytes, reason.as_bytes());
            }
        }
        let check = xxh3_64(&bytes);
        bytes.extend_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads a report at the start of `bytes`. `from` is for errors. What follows is left out.
    pub(super) fn read(from: &str, bytes: &[u8]) -> Result<Self, GatherError> {
        Ok(Self::read_first(from, bytes)?.0)
    }

    /// All reports that follow each other in `bytes`.
    pub(super) fn read_all(from: &str, mut bytes: &[u8]) -> Result<Vec<Self>, GatherError> {
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let (frame, rest) = Self::read_first(from, bytes)?;
            frames.push(frame);
            bytes = rest;
        }
        Ok(frames)
    }

    /// The first report, and what follows it.
    fn read_first<'b>(from: &str, bytes: &'b [u8]) -> Result<(Self, &'b [u8]), GatherError> {
        let damaged = |what| GatherError::Damaged { from: from.to_owned(), what };
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("has another start"))?;
        let mut rest = Rest(rest);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let mut read = || {
            let name = text(rest.field()?);
            let (boot, class) = (rest.fixed()?, u128::from_le_bytes(rest.fixed()?));
            let body = match rest.fixed()? {
                [0] => Some(Body::Hash),
                [1] => Some(Body::Whole(rest.field()?.to_vec())),
                [2] => {
                    let base = u64::from_le_bytes(rest.fixed()?);
                    Some(Body::Difference(base, rest.field()?.to_vec()))
                }
                [3] => text(rest.field()?).map(Body::Failed),
                _ => None,
            };
            Some((name, boot, class, body))
        };
        let (name, boot, class, body) = read().ok_or_else(|| damaged("ends too early"))?;
        let length = bytes.len() - rest.0.len();
        let check = rest.fixed().ok_or_else(|| damaged("ends too early"))?;
        if bytes.get(..length).map(xxh3_64) != Some(u64::from_le_bytes(check)) {
            return Err(damaged("has a wrong checksum"));
        }
        let name = name.ok_or_else(|| damaged("has no text as name"))?;
        let body = body.ok_or_else(|| damaged("is of an unknown kind"))?;
        Ok((Self { name, boot, class, body }, rest.0))
    }
}

/// What is left to read.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn fixed<const LEN: usize>(&mut self) -> Option<[u8; LEN]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    /// A field with its length before it.
    fn field(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(u32::from_le_bytes(self.fixed()?)).ok()?;
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }
}
