//! Makes the header of a new segment, and the segment from header and archive.

use super::error::PublishError;
use super::identity;
use std::io;
use topobroker_layout::header::{self, Header, Kind, VERSION_MAJOR, VERSION_MINOR};
use topobroker_reader::{Scope, Source};

/// A header for a new segment, with defaults: a topology of the whole machine, at any address, of
/// size 0.
pub(super) fn header_of(publisher: identity::Publisher) -> Result<Header, PublishError> {
    Ok(Header {
        version: (VERSION_MAJOR, VERSION_MINOR),
        kind: Kind::Topology,
        scope: Scope::Machine,
        source: Source::ThisMachine,
        address: 0,
        size: 0,
        checksum: 0,
        segment_id: identity::random()?,
        generation: 0,
        // The boot is only checked together with the publisher, so without one it may be missing.
        boot_id: match publisher {
            identity::Publisher::NOBODY => identity::boot_id().unwrap_or_default(),
            _ => identity::boot_id()?,
        },
        publisher_pid: publisher.pid,
        publisher_start: publisher.start,
        pid_namespace: identity::pid_namespace(),
        created: identity::now(),
        hwloc_version: crate::hwloc::api_version(),
    })
}

/// Puts header and archive into one segment.
pub(super) fn framed(header: &Header, archive: &[u8]) -> Result<Vec<u8>, PublishError> {
    let mut segment = vec![0; header::segment_len(archive.len())];
    header.write(archive, &mut segment).map_err(|error| {
        let source = io::Error::new(io::ErrorKind::InvalidData, error);
        PublishError::Store { file: "segment".into(), step: "be framed", source }
    })?;
    Ok(segment)
}
