//! Files that everybody may read, that are replaced whole, and that go with their daemon.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file that this daemon writes.
pub(super) struct WholeFile {
    path: PathBuf,
    /// What was written last. As long as it is open, no other file has its number.
    written: Option<File>,
}

impl WholeFile {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), written: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the file. Whoever reads it meanwhile has the old bytes or the new ones. It is not
    /// written to the disk at once: after a crash the daemon writes it again.
    pub(super) fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.path.metadata().is_ok_and(|it| !it.is_file()) {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                "is no regular file, and stays as it is",
            ));
        }
        let folder = self.path.parent().filter(|it| !it.as_os_str().is_empty());
        let mut new = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        new.write_all(bytes)?;
        new.as_file().set_permissions(Permissions::from_mode(0o644))?;
        self.written = Some(new.persist(&self.path).map_err(|error| error.error)?);
        Ok(())
    }

    /// Removes the file, if it is still the one that this daemon has written: by now, another
    /// daemon may have replaced it.
    pub(super) fn remove(&self) {
        let id = |it: Metadata| (it.dev(), it.ino());
        let own = self.written.as_ref().and_then(|it| it.metadata().ok()).map(id);
        let found = self.path.symlink_metadata().ok().map(id);
        if own.is_some() && own == found {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_this_daemon_has_written_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.prom");
        std::fs::write(&path, "of another").unwrap();
        let [mut first, mut second] = [&path, &path].map(|it| WholeFile::new(it));
        first.remove();
        assert!(path.exists());
        first.replace(b"first").unwrap();
        second.replace(b"second").unwrap();
        first.remove();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        second.remove();
        assert!(!path.exists());
    }
}
