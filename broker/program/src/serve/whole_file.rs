//! Files that everybody may read and that are replaced whole.

use std::fs::Permissions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Replaces a file. Whoever reads it meanwhile has the old bytes or the new ones. It is not written to the
/// disk at once: after a crash the daemon writes it again.
pub(super) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    if file.metadata().is_ok_and(|it| !it.is_file()) {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "is no regular file, and stays as it is",
        ));
    }
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let mut new = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    new.write_all(bytes)?;
    new.as_file().set_permissions(Permissions::from_mode(0o644))?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}
