//! Checks the bytes of a segment or of an archive.

use crate::archive::ArchivedTopology;
use crate::error::{HeaderError, OpenError};
use crate::header::{self, HEADER_LEN, Header, Kind};
use crate::validate::{self, Checked, RULES};

/// Checks a whole segment and returns its header and its archive, which is read in place.
///
/// The address of `segment` must be a multiple of 16, as that of every mapping is. A segment that
/// passes can be read without further checks: every index is in range and the objects form a tree.
///
/// # Errors
///
/// [`OpenError`] for the first check that fails.
pub fn open(segment: &[u8]) -> Result<(Header, &ArchivedTopology), OpenError> {
    let (header, topology, _) = open_certified(segment, false)?;
    Ok((header, topology))
}

/// [`open`] for a segment whose publisher may be trusted. If it is, and the header says that it has
/// checked the archive by the rules of this version ([`RULES`]), most of them are not checked
/// again. Returns also how far it was checked.
///
/// If a publisher says so of an archive that is not sound, queries have wrong answers. They still
/// read nothing outside of it, and end.
///
/// # Errors
///
/// [`OpenError`] for the first check that fails.
pub fn open_certified(
    segment: &[u8],
    is_trusted: bool,
) -> Result<(Header, &ArchivedTopology, Checked), OpenError> {
    let (header, archive) = open_frame(segment, Kind::Topology)?;
    if !is_trusted || header.certificate != RULES {
        return Ok((header, open_archive(archive)?, Checked::Whole));
    }
    let topology = access(archive)?;
    let checked = validate::needed(topology, archive.len())?;
    Ok((header, topology, checked))
}

/// Whether the rules of the tree hold, in an archive that [`open_certified`] has opened: its
/// objects form a tree, in which every walk ends.
#[must_use]
pub fn tree_is_sound(topology: &ArchivedTopology) -> bool {
    validate::tree(topology).is_ok()
}

/// Checks the header and the checksum of a segment, and that the segment is of the given kind.
/// Returns the header and the bytes of the archive.
pub(crate) fn open_frame(segment: &[u8], kind: Kind) -> Result<(Header, &[u8]), OpenError> {
    let header = Header::read(segment)?;
    let found = segment.len() as u64;
    if found != header.size {
        return Err(HeaderError::Length { found, expected: header.size }.into());
    }
    let checksum = header::checksum(segment);
    if checksum != header.checksum {
        return Err(OpenError::Checksum { found: checksum, expected: header.checksum });
    }
    if header.kind != kind {
        let (found, expected) = (header.kind.name(), kind.name());
        return Err(HeaderError::OtherKind { found, expected }.into());
    }
    Ok((header, segment.get(HEADER_LEN..).unwrap_or_default()))
}

/// Checks an archive without a header, as [`crate::encode::to_bytes`] returns it.
///
/// # Errors
///
/// [`OpenError::Archive`] if rkyv cannot read the bytes, [`OpenError::Invalid`] if the archive
/// breaks a rule.
pub fn open_archive(archive: &[u8]) -> Result<&ArchivedTopology, OpenError> {
    let topology = access(archive)?;
    validate::topology(topology, archive.len())?;
    Ok(topology)
}

/// The columns of an archive, all of which are inside it. Whether they make sense is not checked.
fn access(archive: &[u8]) -> Result<&ArchivedTopology, OpenError> {
    rkyv::access::<ArchivedTopology, rkyv::rancor::Error>(archive)
        .map_err(|error: rkyv::rancor::Error| OpenError::Archive(error.into()))
}
