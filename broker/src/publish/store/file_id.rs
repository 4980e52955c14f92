//! Which file it is, whatever its name.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Device and inode: another file may have the same name by now.
pub(crate) type FileId = (u64, u64);

/// Which file metadata are of.
pub(crate) fn id_of(metadata: &Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// Whether an open file still has its name.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| has_name(path, id_of(&metadata)))
}

/// Removes a file if its name is still its own.
pub(crate) fn remove_if(path: &Path, id: FileId) -> bool {
    has_name(path, id) && fs::remove_file(path).is_ok()
}

fn has_name(path: &Path, id: FileId) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| id_of(&metadata) == id)
}
