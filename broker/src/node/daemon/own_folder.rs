//! A folder that no other user can put anything into, or swap for another one.

use super::error::DaemonError;
use rustix::fs::{AtFlags, Mode, OFlags, fchmod};
use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A folder of root or this user, below folders that no other user can change, held open.
#[derive(Debug)]
pub(super) struct OwnFolder {
    /// Its path, without links.
    pub(super) path: PathBuf,
    /// Whether it was not there before.
    pub(super) is_made: bool,
    opened: OwnedFd,
}

impl OwnFolder {
    /// Opens a folder, which is made if it is not there.
    pub(super) fn open(path: &Path) -> Result<Self, DaemonError> {
        let failed = |step| {
            let file = path.to_owned();
            move |source: io::Error| DaemonError::Folder { file, step, source }
        };
        let is_made = make(path).map_err(failed("make the folder"))?;
        // From here on no name is followed that may be a link by the next look.
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

    /// Opens a file for reading and writing, which is made if it is not there.
    pub(super) fn open_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(rustix::fs::openat(self.opened.as_fd(), name, flags, mode)?.into())
    }

    /// Makes a file that everybody may read, and that is not there.
    pub(super) fn make_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.opened.as_fd(), name, flags, Mode::RUSR | Mode::WUSR)?;
        fchmod(&file, Mode::from_raw_mode(0o444))?;
        Ok(file.into())
    }

    /// Gives a file the name of another, which it replaces.
    pub(super) fn replace(&self, name: &str, other: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(self.opened.as_fd(), name, self.opened.as_fd(), other)?)
    }

    /// Removes a file, if it is there.
    pub(super) fn remove_file(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(self.opened.as_fd(), name, AtFlags::empty()) {
            Err(error) if error != rustix::io::Errno::NOENT => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Makes a folder that everybody may look into, whatever the umask is; one that is there stays as it is. Whether it was
/// made.
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
    // By descriptor: the name may be another's by now.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::open(path, flags, Mode::empty())?;
    let own = rustix::fs::fstat(&made)?.st_uid == rustix::process::geteuid().as_raw();
    if own {
        fchmod(&made, Mode::from_raw_mode(0o755))?;
    }
    Ok(true)
}

/// Why another user could change what is in a folder, if one could. Above the daemon's own, a folder in which users
/// cannot remove what is not theirs will do: `/tmp`.
fn distrust(metadata: &Metadata, is_own: bool) -> Option<String> {
    const STICKY: u32 = 0o1000;
    let (mode, owner) = (metadata.mode() & 0o7777, metadata.uid());
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Some(format!("belongs to user {owner}"));
    }
    let writable = mode & 0o022 != 0 && (is_own || mode & STICKY == 0);
    writable.then(|| format!("has mode {mode:04o}, which others may write"))
}
