//! The identity of a file, whatever its name.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Device and inode of a file. The name does not identify it, because another file may have the
/// same name by now.
pub(crate) type FileId = (u64, u64);

/// The id of the file that the metadata describe.
pub(crate) fn id_of(metadata: &Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// Whether an open file still has the name `path`.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| has_name(path, id_of(&metadata)))
}

/// Removes a file if it still has the name `path`. Returns whether it was removed.
pub(crate) fn remove_if(path: &Path, id: FileId) -> bool {
    has_name(path, id) && fs::remove_file(path).is_ok()
}

fn has_name(path: &Path, id: FileId) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| id_of(&metadata) == id)
}
