//! Writes the file of a cluster, whole or not at all.

use super::error::ClusterError;
use std::fs::Permissions;
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
    let persisted = match is_to_replace {
        true => written.persist(file),
        false => written.persist_noclobber(file),
    };
    match persisted {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            Err(ClusterError::Exists { file: file.to_owned() })
        }
        Err(error) => Err(failed("give it its name")(error.error)),
    }
}
