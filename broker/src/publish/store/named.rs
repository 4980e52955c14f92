//! A segment as a file. The file is filled while it has no name, then gets its name in one step.

use crate::file_bytes::with_ending;
use crate::publish::error::{PublishError, failed};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags, RenameFlags};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use topobroker_layout::header;

/// Publishes a segment under a name. Returns its whole path, which readers in other folders need.
pub(in crate::publish) fn publish(
    path: &Path,
    segment: &mut [u8],
    mode: u32,
) -> Result<PathBuf, PublishError> {
    publish_written(path, segment.len(), mode, |file| write_segment(file, segment))
}

/// [`publish`]; `None` if there is a file of this name already.
pub(crate) fn publish_new(
    path: &Path,
    segment: &mut [u8],
    mode: u32,
) -> Result<Option<PathBuf>, PublishError> {
    match publish(path, segment, mode) {
        Err(PublishError::Store { source, .. })
            if source.kind() == io::ErrorKind::AlreadyExists =>
        {
            Ok(None)
        }
        published => published.map(Some),
    }
}

/// Publishes a file of `length` bytes that `write` fills.
pub(in crate::publish) fn publish_written(
    path: &Path,
    length: usize,
    mode: u32,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<PathBuf, PublishError> {
    let folder = path.parent().unwrap_or(path);
    let folder = std::path::absolute(folder).map_err(failed(folder, "find the folder", length))?;
    let path = folder.join(path.file_name().unwrap_or_default());
    match open_nameless(&folder, length)? {
        Some(file) => {
            fill(&file, &path, length, mode, write)?;
            give_name(&file, &path, length)?;
        }
        None => publish_renamed(&path, length, mode, write)?,
    }
    Ok(path)
}

/// Opens a file without a name in a folder. It gets its name once it is whole, so a publisher that
/// is killed leaves nothing behind. `None` if the file system has no files without names.
pub(in crate::publish) fn open_nameless(
    folder: &Path,
    length: usize,
) -> Result<Option<File>, PublishError> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(Some(file.into())),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::ISDIR) => Ok(None),
        Err(error) => Err(failed(folder, "make a file in the folder", length)(error.into())),
    }
}

/// Gives a nameless file its name. Fails if another file has this name.
pub(in crate::publish) fn give_name(
    file: &File,
    path: &Path,
    length: usize,
) -> Result<(), PublishError> {
    let link = format!("/proc/self/fd/{}", rustix::fd::AsRawFd::as_raw_fd(file));
    rustix::fs::linkat(CWD, link, CWD, path, AtFlags::SYMLINK_FOLLOW)
        .map_err(|error| failed(path, "give the file its name", length)(error.into()))
}

/// Reserves the space of a file, writes it and sets its mode.
pub(in crate::publish) fn fill(
    file: &File,
    path: &Path,
    length: usize,
    mode: u32,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), PublishError> {
    reserve(file, length).map_err(failed(path, "reserve the space", length))?;
    write(file).map_err(failed(path, "write the segment", length))?;
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode))
        .map_err(|error| failed(path, "set the mode", length)(error.into()))
}

/// Reserves the space of a file before it is written. Without space, writing through a mapping is a
/// SIGBUS, and a plain write fails half-way.
fn reserve(file: &File, length: usize) -> io::Result<()> {
    // Beyond this limit the kernel does not only refuse the write, but also ends the process.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| (length as u64) > limit) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let reserve = || rustix::fs::fallocate(file, FallocateFlags::empty(), 0, length as u64);
    match rustix::io::retry_on_intr(reserve) {
        // The file system cannot reserve space: if there is too little, writing fails.
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(file.set_len(length as u64)?),
        result => Ok(result?),
    }
}

/// Writes a segment, the state word last.
pub(in crate::publish) fn write_segment(mut file: &File, segment: &mut [u8]) -> io::Result<()> {
    file.write_all(segment)?;
    header::mark_ready(segment);
    file.write_all_at(segment.get(..header::HEADER_LEN).unwrap_or_default(), 0)
}

fn publish_renamed(
    path: &Path,
    length: usize,
    mode: u32,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), PublishError> {
    let temporary = with_ending(path, ".new");
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(&temporary, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|error| failed(&temporary, "make the file", length)(error.into()))?;
    let guard = RemoveOnDrop(&temporary);
    fill(&File::from(file), path, length, mode, write)?;
    rename(&temporary, path).map_err(failed(path, "give the file its name", length))?;
    std::mem::forget(guard);
    Ok(())
}

/// Renames a file, but never replaces another one.
pub(in crate::publish) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot rename in this way: make a link, which replaces nothing either.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            std::fs::hard_link(from, to)?;
            std::fs::remove_file(from)
        }
        result => Ok(result?),
    }
}

struct RemoveOnDrop<'p>(&'p Path);

impl Drop for RemoveOnDrop<'_> {
    fn drop(&mut self) {
        // The caller gets the error that made publishing fail, not one of removing.
        let _ = std::fs::remove_file(self.0);
    }
}

/// Opens a file that this process has just made. Refuses links, files of other users, and files
/// with a second name.
pub(in crate::publish) fn reopen(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(file.as_fd())?;
    if stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_nlink == 1 {
        Ok(file)
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}
