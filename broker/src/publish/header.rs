//! Makes the header of a new segment, and the segment from header and archive.

use super::error::PublishError;
use super::publisher::{self, Publisher};
use std::io;
use topobroker_layout::header::{self, Header, VERSION_MAJOR, VERSION_MINOR};

/// A header for a new segment, with defaults: a topology of the whole machine, at any address, of
/// size 0.
pub(crate) fn header_of(who: Publisher) -> Result<Header, PublishError> {
    Ok(Header {
        version: (VERSION_MAJOR, VERSION_MINOR),
        segment_id: publisher::random()?,
        // The boot is only checked together with the publisher, so without one it may be missing.
        boot_id: match who {
            Publisher::NONE => publisher::boot_id().unwrap_or_default(),
            _ => publisher::boot_id()?,
        },
        publisher_pid: who.pid,
        publisher_start: who.start,
        pid_namespace: publisher::pid_namespace(),
        created: publisher::now(),
        hwloc_version: crate::hwloc::api_version(),
        ..Header::default()
    })
}

/// Puts header and archive into one segment.
pub(crate) fn framed(header: &Header, archive: &[u8]) -> Result<Vec<u8>, PublishError> {
    let mut segment = vec![0; header::segment_len(archive.len())];
    header.write(archive, &mut segment).map_err(|error| {
        let source = io::Error::new(io::ErrorKind::InvalidData, error);
        PublishError::Store { file: "segment".into(), step: "be framed", source }
    })?;
    Ok(segment)
}
