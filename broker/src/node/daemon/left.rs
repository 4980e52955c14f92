//! What is in the folder of a daemon, for those who are not the daemon: whether it looks, and what
//! one that was killed has left.

use super::own_folder::{KEYS, LOCK, OWN_FILES, REPAIRS};
use crate::publish::found::{Published, read};
use crate::publish::{NAME_PREFIX, PublisherState, is_at};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;
use topobroker_process::text_within;

/// How long ago the daemon of a folder last looked whether what it has published is still true;
/// `None` if no daemon has the folder, or it was killed and this user may know.
#[must_use]
pub fn looked(folder: &Path) -> Option<Duration> {
    if was_killed(folder) {
        return None;
    }
    fs::symlink_metadata(folder.join(LOCK)).ok()?.modified().ok()?.elapsed().ok()
}

/// How often the daemon of a folder has put back files that were removed; `None` if no daemon has
/// the folder, or it was killed and this user may know.
#[must_use]
pub fn repairs(folder: &Path) -> Option<u64> {
    /// Longest number that is read.
    const MOST: u64 = 20;
    looked(folder)?;
    match open(&folder.join(REPAIRS)) {
        Ok(file) => text_within(MOST, file).ok()?.parse().ok(),
        Err(Errno::NOENT) => Some(0),
        Err(_) => None,
    }
}

/// Whether a segment is in the folder of a daemon that runs: then it is the daemon's business.
#[must_use]
pub fn is_served(segment: &Path) -> bool {
    segment.parent().is_some_and(|folder| looked(folder).is_some())
}

/// Whether the daemon of a folder was killed: its lock file is there, and is not locked.
pub fn was_killed(folder: &Path) -> bool {
    lock_of_killed(folder).is_some()
}

/// Removes what a killed daemon has left in its folder, if no segment is there any more.
pub fn clear_after_killed(folder: &Path) {
    let is_empty = left_in(folder).is_empty() && !folder.join(KEYS).exists();
    // The lock is held until all is removed, so that no new daemon takes the folder meanwhile.
    if let Some(_lock) = lock_of_killed(folder).filter(|_| is_empty) {
        OWN_FILES.iter().for_each(|name| _ = fs::remove_file(folder.join(name)));
        let _ = fs::remove_dir(folder);
    }
}

/// The lock of a folder, locked, if a daemon has left it.
fn lock_of_killed(folder: &Path) -> Option<File> {
    let file = folder.join(LOCK);
    let lock = open(&file).ok()?;
    let is_free = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    (is_free && is_at(&lock, &file)).then_some(lock)
}

/// A file of a folder that may be anybody's: no link is followed, and no FIFO waited for.
fn open(file: &Path) -> rustix::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    Ok(rustix::fs::open(file, flags, Mode::empty())?.into())
}

/// Whether an earlier daemon has left a segment, for whoever has the lock of the folder: its
/// publisher is gone, or it is announced and its publisher was in another container.
pub(super) fn is_left(published: &Published) -> bool {
    match published.publisher {
        PublisherState::Gone => true,
        PublisherState::Unknown => published.header.is_ok() && published.is_announced(),
        _ => false,
    }
}

/// Generation and file of each segment in a folder that an earlier daemon left.
pub(super) fn left_in(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_prefix(NAME_PREFIX)?;
        let segment = id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let published = read(&entry.path()).ok().filter(|_| segment)?;
        let gone = is_left(&published);
        Some((published.header.ok()?.generation, entry.path())).filter(|_| gone)
    });
    found.collect()
}
