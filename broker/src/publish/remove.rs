//! Removes published segments.

use super::error::PublishError;
use super::{job, legacy};
use std::io;
use std::path::Path;

/// Removes a topology, the jobs over it and its files for hwloc.
pub(crate) fn remove(path: &Path) -> Result<(), PublishError> {
    // If this process is killed meanwhile, whoever sweeps finds the topology, and removes the rest.
    legacy::remove_companions(path);
    let removed = remove_file(path).map(drop);
    // The jobs go last, because processes that do not find the topology add no job over it.
    job::remove_all(path);
    removed
}

/// Removes a file. Returns whether it was there.
pub(crate) fn remove_file(path: &Path) -> Result<bool, PublishError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => {
            Err(PublishError::Store { file: path.to_owned(), step: "be removed", source })
        }
    }
}
