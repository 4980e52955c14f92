//! Checks the bytes of a segment or of an archive.

use crate::archive::ArchivedTopology;
use crate::error::{HeaderError, OpenError};
use crate::header::{self, HEADER_LEN, Header, Kind};
use crate::validate;

/// Checks a whole segment and returns its header and its archive, which is read in place.
///
/// The address of `segment` must be a multiple of 16, as that of every mapping is. A segment that
/// passes can be read without further checks: every index is in range and the objects form a tree.
///
/// # Errors
///
/// [`OpenError`] for the first check that fails.
pub fn open(segment: &[u8]) -> Result<(Header, &ArchivedTopology), OpenError> {
    let (header, archive) = open_frame(segment, Kind::Topology)?;
    Ok((header, open_archive(archive)?))
}

/// Checks the header and the checksum of a segment, and that the segment is of the given kind.
/// Returns the header and the bytes of the archive.
pub(crate) fn open_frame(segment: &[u8], kind: Kind) -> Result<(Header, &[u8]), OpenError> {
    let header = Header::read(segment)?;
    let found = segment.len() as u64;
    if found != header.size {
        return Err(HeaderError::Length { found, expected: header.size }.into());
    }
    let Some((head, archive)) = segment.split_first_chunk::<HEADER_LEN>() else {
        return Err(HeaderError::Length { found, expected: HEADER_LEN as u64 }.into());
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

/// Checks an archive without a header, as [`crate::encode::to_bytes`] returns it.
///
/// # Errors
///
/// [`OpenError::Archive`] if rkyv cannot read the bytes, [`OpenError::Invalid`] if the archive
/// breaks a rule.
pub fn open_archive(archive: &[u8]) -> Result<&ArchivedTopology, OpenError> {
    let topology = rkyv::access::<ArchivedTopology, rkyv::rancor::Error>(archive)
        .map_err(|error: rkyv::rancor::Error| OpenError::Archive(error.into()))?;
    validate::topology(topology, archive.len())?;
    Ok(topology)
}
