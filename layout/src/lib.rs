//! The archive of an hwloc topology: what is stored in a segment and how it is checked.
//!
//! This crate knows no hwloc and maps no memory. [`description::Description`] is a topology as
//! plain values; [`build::to_bytes`] archives it; [`header::Header`] frames it; [`open`] checks the
//! bytes and gives back [`archive::ArchivedTopology`], which is read in place. `FORMAT.md` has
//! every field and its reason.
//!
//! ```
//! use topobroker_layout::{header::HEADER_LEN, open, OpenError};
//! let nothing = [0u8; HEADER_LEN];
//! assert!(matches!(open(&nothing), Err(OpenError::Header(_))));
//! ```
#![forbid(unsafe_code)]

pub mod archive;
pub mod attributes;
pub mod build;
pub mod column;
pub mod description;
mod error;
pub mod header;
pub mod job;
pub mod levels;
pub mod object_type;
pub mod overlay;
pub mod set;
pub mod shape;
pub mod support;
pub mod tree;
mod validate;

pub use error::{HeaderError, OpenError, ValidationError};

use archive::ArchivedTopology;
use header::{HEADER_LEN, Header, Kind};

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
fn open_frame(segment: &[u8], kind: Kind) -> Result<(Header, &[u8]), OpenError> {
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

/// Checks an archive without a header, as [`build::to_bytes`] makes it.
///
/// # Errors
///
/// [`OpenError::Archive`] and [`OpenError::Invalid`], as [`open`].
pub fn open_archive(archive: &[u8]) -> Result<&ArchivedTopology, OpenError> {
    let topology = rkyv::access::<ArchivedTopology, rkyv::rancor::Error>(archive)
        .map_err(|error| OpenError::Archive(error.to_string()))?;
    validate::topology(topology, archive.len())?;
    Ok(topology)
}
