//! Segments next to that of the topology: jobs, links and clusters.

use super::error::AdoptError;
use super::file_key::FileKey;
use super::keys::Keys;
use super::map::anywhere;
use super::meeting::Guest;
use super::open::Candidate;
use rustix::fs::{AtFlags, CWD};
use topobroker_process::FilePath;

/// Opens and maps the segment in a file that is not known by its size, of which there is a limit.
pub(crate) fn other_segment(
    file: &FilePath,
    limit: u64,
) -> Result<(Candidate, &'static [u8]), AdoptError> {
    let candidate = candidate(file, limit)?;
    let (bytes, _) = anywhere(&candidate, Guest::Job)?;
    Ok((candidate, bytes))
}

/// Opens a file that is not known by its size, and checks its owner, mode and length, of which
/// there is a limit.
pub(crate) fn candidate(file: &FilePath, limit: u64) -> Result<Candidate, AdoptError> {
    let key = FileKey::Path(file.clone());
    let stat = rustix::fs::statat(CWD, file.as_bytes(), AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| AdoptError::Open { file: key.clone(), source: error.into() })?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    Candidate::open(Keys::new(key, 0, size.max(1)), limit)
}
