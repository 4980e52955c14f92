//! Removing what was published.

use super::error::PublishError;
use super::{job, legacy};
use std::io;
use std::path::Path;

/// Removes a topology with the jobs over it.
pub(crate) fn remove(path: &Path) -> Result<(), PublishError> {
    let removed = remove_file(path);
    // Afterwards: no job is added over a topology that is not there.
    job::remove_all(path);
    legacy::remove_beside(path);
    removed
}

pub(crate) fn remove_file(path: &Path) -> Result<(), PublishError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(PublishError::Store { file: path.to_owned(), step: "be removed", source: error })
        }
        _ => Ok(()),
    }
}
