//! Checking the bytes of a segment or of an archive.

use crate::archive::ArchivedTopology;
use crate::error::{HeaderError, OpenError};
use crate::header::{self, HEADER_LEN, Header, Kind};
use crate::validate;

/// Checks a segment from its first byte to its last and gives access to its archive in place.
///
/// The start of `segment` must be at a multiple of 16, as every mapping is.
///
/// # Errors
///
/// [`OpenError`] with the first thing that is not as it must be. Bytes that pass can be read
/// without further checks: every index is in range and the objects form a tree.
pub fn open(segment: &[u8]) -> Result<(Header, &ArchivedTopology), OpenError> {
    let (header, archive) = open_frame(segment, Kind::Topology)?;
    Ok((header, open_archive(archive)?))
}

/// Checks header and checksum of a segment that is to hold a kind of archive.
pub(crate) fn open_frame(segment: &[u8], kind: Kind) -> Result<(Header, &[u8]), OpenError> {
    let header = Header::read(segment)?;
    let found = segment.len() as u64;
    if found != header.size {
        return Err(HeaderError::Short { found, expected: header.size }.into());
    }
    let Some((head, archive)) = segment.split_first_chunk::<HEADER_LEN>() else {
        return Err(HeaderError::Short { found, expected: HEADER_LEN as u64 }.into());
    };
    let checksum = header::checksum(head, archive);
    if checksum != header.checksum {
        return Err(OpenError::Checksum { found: checksum, expected: header.checksum });
    }
    if header.kind != kind {
        let (found, expected) = (header.kind.name(), kind.name());
        return Err(HeaderError::OtherKind { found, expected }.into());
    }
    Ok((header, archive))
}

/// Checks an archive without a header, as [`crate::encode::to_bytes`] makes it.
///
/// # Errors
///
/// [`OpenError::Archive`] and [`OpenError::Invalid`], as [`open`].
pub fn open_archive(archive: &[u8]) -> Result<&ArchivedTopology, OpenError> {
    let topology = rkyv::access::<ArchivedTopology, rkyv::rancor::Error>(archive)
        .map_err(|error: rkyv::rancor::Error| OpenError::Archive(error.into()))?;
    validate::topology(topology, archive.len())?;
    Ok(topology)
}
