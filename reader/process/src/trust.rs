//! Decides whether the owner of a file is trusted: root and this user are. If a user namespace does
//! not map the owner, the folders above the file are checked instead.
//!
//! A container of an unprivileged user maps few users. The kernel shows the files of all others,
//! including root, as those of one user, 65534, so the owner of such a file is unknown. But if no
//! folder above it, up to the root of its mount, can be written by others, then root or whoever set
//! up the container chose its place.

use crate::file_error::FileError;
use crate::file_path::FilePath;
use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, StatxAttributes, StatxFlags,
};

/// Opens a file that only root or this user can have written: a regular file, not a symbolic link,
/// that neither group nor others may write. Its name alone proves nothing, because anybody may
/// choose a name. In a container, root may be unknown; then a file is also opened if no folder
/// above it can be written by others.
///
/// # Errors
///
/// [`FileError`], with what was found.
pub fn open_trusted(path: &FilePath) -> Result<OwnedFd, FileError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(path.as_bytes(), flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    if let Some(found) = other_than_regular(&stat) {
        return Err(FileError::NotRegular { found });
    }
    match trust_of(&stat, Some(path)) {
        Trust::Owner | Trust::Place if stat.st_mode & 0o022 == 0 => Ok(file),
        Trust::Owner | Trust::Place => Err(FileError::Writable { found: stat.st_mode & 0o7777 }),
        Trust::OtherUser => Err(FileError::OtherUser { found: stat.st_uid }),
        Trust::Unmapped => Err(FileError::Unmapped),
    }
}

/// Whether the owner of an open file is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The owner is root or this user.
    Owner,
    /// This namespace does not map the owner, which may be this user, or no other user can write to
    /// the folders above the file, or the process that started this one handed over its descriptor.
    Place,
    /// The owner is another user.
    OtherUser,
    /// This namespace does not map the owner, and others can write to a folder above the file.
    Unmapped,
}

/// Decides whether the owner of an open file is trusted. `path` is the path by which it was opened,
/// if it has one.
#[must_use]
pub fn trust_of(stat: &Stat, path: Option<&FilePath>) -> Trust {
    if stat.st_uid == 0 {
        return Trust::Owner;
    }
    if stat.st_uid == rustix::process::geteuid().as_raw() {
        // Where this user is not mapped, it looks like all others.
        let is_known = stat.st_uid != UNMAPPED || !is_in_user_namespace();
        return if is_known { Trust::Owner } else { Trust::Place };
    }
    if stat.st_uid != UNMAPPED || !is_in_user_namespace() {
        return Trust::OtherUser;
    }
    match path {
        Some(path) if !is_sheltered(stat, path).unwrap_or(false) => Trust::Unmapped,
        _ => Trust::Place,
    }
}

/// Kind of a file that is not regular; `None` for a regular file.
#[must_use]
pub fn other_than_regular(stat: &Stat) -> Option<&'static str> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => None,
        FileType::Directory => Some("directory"),
        FileType::Fifo => Some("FIFO"),
        FileType::Socket => Some("socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("device"),
        _ => Some("special file"),
    }
}

/// The user that the kernel shows for users that a namespace does not map, unless an administrator
/// chose another.
const UNMAPPED: u32 = 65_534;

/// Whether this process is in a user namespace that does not map every user to itself.
#[cold]
fn is_in_user_namespace() -> bool {
    let mut map = [0; 64];
    let file =
        rustix::fs::open("/proc/self/uid_map", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let read = file.and_then(|file| rustix::io::read(&file, &mut map));
    let text = read.ok().and_then(|read| str::from_utf8(map.get(..read)?).ok());
    // If the map cannot be read, a user that may be unmapped is not trusted.
    text.is_some_and(|text| !text.split_ascii_whitespace().eq(["0", "0", "4294967295"]))
}

/// Whether neither group nor others may write to any folder above the file, up to the root of its
/// mount. Each folder is held open while it is checked, so renaming it changes nothing.
#[cold]
fn is_sheltered(stat: &Stat, path: &FilePath) -> rustix::io::Result<bool> {
    /// Limit of folders to check. In practice, no file is below as many.
    const DEEPEST: usize = 256;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
    // Symbolic links are refused, because whoever made one would choose which folders are checked.
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut folder = rustix::fs::openat2(CWD, folder.as_bytes(), flags, Mode::empty(), resolve)?;
    let named = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if (named.st_dev, named.st_ino) != (stat.st_dev, stat.st_ino) {
        return Ok(false);
    }
    for _ in 0..DEEPEST {
        let own = rustix::fs::statx(&folder, "", AtFlags::EMPTY_PATH, StatxFlags::MODE)?;
        // Kernels before 5.8 do not say which folder is the root of a mount.
        if own.stx_mode & 0o022 != 0 || !own.stx_attributes_mask.contains(MOUNT_ROOT) {
            return Ok(false);
        }
        if own.stx_attributes.contains(MOUNT_ROOT) {
            return Ok(true);
        }
        folder = rustix::fs::openat(&folder, "..", flags, Mode::empty())?;
    }
    Ok(false)
}

const MOUNT_ROOT: StatxAttributes = StatxAttributes::MOUNT_ROOT;
