//! A folder that other users can neither write to nor replace by another one.

use super::error::DaemonError;
use crate::publish::DAEMON_LOCK;
use rustix::fs::{AtFlags, Mode, OFlags, fchmod};
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Name of the file with the keys. Readers know it.
pub(super) const KEYS: &str = "keys";
/// Name of the file that the daemon locks.
pub(super) const LOCK: &str = DAEMON_LOCK;
/// Name of the file with how often files were put back. It is there after the first time.
pub(super) const REPAIRS: &str = "repairs";
/// Name of the keys, or of the count of repairs, while they are written.
const NEW: &str = "new";
/// Files of the daemon itself, which no process needs to find the topology. The lock is removed
/// last.
pub(super) const OWN_FILES: [&str; 3] = [REPAIRS, NEW, LOCK];

/// An open folder of root or this user. No other user can change the folders above it.
#[derive(Debug)]
pub(super) struct OwnFolder {
    /// Its path, without links.
    pub(super) path: PathBuf,
    /// Whether it did not exist before.
    pub(super) is_made: bool,
    opened: OwnedFd,
}

impl OwnFolder {
    /// Opens a folder, and makes it if it does not exist.
    pub(super) fn open(path: &Path) -> Result<Self, DaemonError> {
        let failed = |step| {
            let file = path.to_owned();
            move |source: io::Error| DaemonError::Folder { file, step, source }
        };
        let is_made = make(path).map_err(failed("make the folder"))?;
        // From here on no link is followed, because it could be changed between two calls.
        let path = path.canonicalize().map_err(failed("find the folder"))?;
        for folder in path.ancestors() {
            let metadata = fs::symlink_metadata(folder).map_err(failed("look at the folder"))?;
            if let Some(found) = distrust(&metadata, folder == path) {
                let (folder, part) = (path.clone(), folder.to_owned());
                return Err(DaemonError::Shared { folder, part, found });
            }
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&path, flags, Mode::empty());
        let opened = opened.map_err(|error| failed("open the folder")(error.into()))?;
        Ok(Self { path, is_made, opened })
    }

    /// Opens a file for reading and writing, and makes it if it does not exist.
    pub(super) fn open_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(rustix::fs::openat(self.opened.as_fd(), name, flags, mode)?.into())
    }

    /// Writes a file that everybody may read, in place of the file of that name, in one step.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), DaemonError> {
        let written = || {
            // A daemon that was killed while it wrote has left this file.
            self.remove_file(NEW)?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mode = Mode::RUSR | Mode::WUSR;
            let mut file = File::from(rustix::fs::openat(self.opened.as_fd(), NEW, flags, mode)?);
            fchmod(&file, Mode::from_raw_mode(0o444))?;
            file.write_all(text.as_bytes())?;
            Ok(rustix::fs::renameat(self.opened.as_fd(), NEW, self.opened.as_fd(), name)?)
        };
        written().map_err(|source| {
            let _ = self.remove_file(NEW);
            DaemonError::Folder { file: self.path.join(name), step: "be written", source }
        })
    }

    /// Removes a file if it exists.
    pub(super) fn remove_file(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(self.opened.as_fd(), name, AtFlags::empty()) {
            Err(error) if error != rustix::io::Errno::NOENT => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Makes a folder with mode 0755, whatever the umask is. An existing folder stays as it is. Returns
/// whether the folder was made.
fn make(path: &Path) -> io::Result<bool> {
    if path.is_dir() {
        return Ok(false);
    }
    let folder =
        |path: &Path, recursive| DirBuilder::new().recursive(recursive).mode(0o755).create(path);
    if let Some(parent) = path.parent() {
        folder(parent, true)?;
    }
    match folder(path, false) {
        // Another daemon was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        made => made?,
    }
    // By descriptor, because another folder may have the name by now.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::open(path, flags, Mode::empty())?;
    let own = rustix::fs::fstat(&made)?.st_uid == rustix::process::geteuid().as_raw();
    if own {
        fchmod(&made, Mode::from_raw_mode(0o755))?;
    }
    Ok(true)
}

/// The reason why another user could change the content of a folder; `None` if no other user can.
///
/// Folders above the daemon's own may be writable for others if they are sticky, as `/tmp` is,
/// because users cannot remove the files of others there.
fn distrust(metadata: &Metadata, is_own: bool) -> Option<String> {
    const STICKY: u32 = 0o1000;
    let (mode, owner) = (metadata.mode() & 0o7777, metadata.uid());
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Some(format!("belongs to user {owner}"));
    }
    let writable = mode & 0o022 != 0 && (is_own || mode & STICKY == 0);
    writable.then(|| format!("has mode {mode:04o}, which others may write"))
}
