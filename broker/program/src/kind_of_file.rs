//! What a file that a user names is, if it is not what the command reads: the message names the
//! command that does.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use topobroker::file_bytes::FileBytes;
use topobroker_layout::header::{Header, Kind, MAGIC, MAX_CLUSTER_LEN};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// A segment of ours.
    Segment(Kind),
    /// XML.
    Xml,
    /// Something else, or it is no regular file.
    Other,
}

/// What is in a file, by its first bytes.
pub(super) fn of(file: &Path) -> Held {
    let mut start = [0; 8];
    let is_file = std::fs::metadata(file).is_ok_and(|found| found.is_file());
    let read = || File::open(file)?.read(&mut start);
    match is_file.then(read) {
        Some(Ok(8)) if start == MAGIC => {
            let bytes = FileBytes::open(file, MAX_CLUSTER_LEN).ok();
            let header = bytes.and_then(|bytes| Header::read(&bytes).ok());
            header.map_or(Held::Other, |header| Held::Segment(header.kind))
        }
        Some(Ok(_)) if start.starts_with(b"<") => Held::Xml,
        _ => Held::Other,
    }
}
