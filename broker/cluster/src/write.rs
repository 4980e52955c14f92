//! Writes the file of a cluster, whole or not at all.

use super::error::ClusterError;
use std::fs::{File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a cluster to a file with a mode. It becomes visible whole. A file that exists is an
/// error, unless it is to be replaced; processes that have adopted the old one keep it.
///
/// # Errors
///
/// [`ClusterError::Exists`], [`ClusterError::Write`]; nothing is left behind.
pub fn write_file(
    file: &Path,
    bytes: &[u8],
    mode: u32,
    is_to_replace: bool,
) -> Result<(), ClusterError> {
    let failed = |step| move |source| ClusterError::Write { file: file.to_owned(), step, source };
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut written =
        tempfile::NamedTempFile::new_in(folder).map_err(failed("make a file beside it"))?;
    written.write_all(bytes).map_err(failed("write it"))?;
    written
        .as_file()
        .set_permissions(Permissions::from_mode(mode))
        .map_err(failed("set its mode"))?;
    // So that after a crash the file has its bytes or does not exist.
    written.as_file().sync_all().map_err(failed("write it to the disk"))?;
    let persisted = match is_to_replace {
        true => written.persist(file),
        false => written.persist_noclobber(file),
    };
    match persisted {
        Ok(_) => match File::open(folder).and_then(|folder| folder.sync_all()) {
            // Some file systems cannot do it for folders.
            Err(error) if error.kind() != ErrorKind::InvalidInput => {
                Err(failed("write its folder to the disk")(error))
            }
            _ => Ok(()),
        },
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            Err(ClusterError::Exists { file: file.to_owned() })
        }
        Err(error) => Err(failed("give it its name")(error.error)),
    }
}
