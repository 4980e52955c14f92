//! Whose files a process believes: root's, its own, and in a user namespace those of a folder that nobody else can
//! write to.
//!
//! A container of an unprivileged user maps few users. The kernel shows the files of all others, root's among them, as
//! those of one user, 65534. Who owns such a file cannot be known; who could have put it there can: if no folder above
//! it, up to the root of its mount, can be written by others, its place was chosen by whoever set up the container or
//! by root.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Stat, StatxAttributes, StatxFlags};
use std::path::Path;

/// Whether the owner of an open file is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// It is.
    Believed,
    /// It is another user.
    Other,
    /// It is a user that this namespace does not map, and others can write to a folder above the file.
    Unmapped,
}

/// Whether the owner of an open file is believed; `path` is the name that it was opened by, if it has one.
pub(crate) fn owner(stat: &Stat, path: Option<&Path>) -> Owner {
    if stat.st_uid == 0 || stat.st_uid == rustix::process::geteuid().as_raw() {
        return Owner::Believed;
    }
    if stat.st_uid != UNMAPPED || !is_in_user_namespace() {
        return Owner::Other;
    }
    match path {
        Some(path) if !is_sheltered(stat, path).unwrap_or(false) => Owner::Unmapped,
        // A descriptor was handed over by the process that started this one.
        _ => Owner::Believed,
    }
}

/// The user that the kernel shows for those that a namespace does not map, unless an administrator chose another.
const UNMAPPED: u32 = 65_534;

/// Whether this process is in a user namespace that does not map every user to itself.
#[cold]
fn is_in_user_namespace() -> bool {
    let mut map = [0; 64];
    let file =
        rustix::fs::open("/proc/self/uid_map", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let read = file.and_then(|file| rustix::io::read(&file, &mut map));
    let text = read.ok().and_then(|read| str::from_utf8(map.get(..read)?).ok());
    // Where the kernel does not tell, nobody is believed for it.
    text.is_some_and(|text| !text.split_ascii_whitespace().eq(["0", "0", "4294967295"]))
}

/// Whether neither group nor others may write to any folder from that of the file up to the root of its mount. The
/// folders are held open while they are looked at, so it is these that are meant, whatever their names are by then.
#[cold]
fn is_sheltered(stat: &Stat, path: &Path) -> rustix::io::Result<bool> {
    /// Deeper than any folder is.
    const DEEPEST: usize = 256;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
    // No link on the way: whoever made one would choose which folders are looked at.
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut folder = rustix::fs::openat2(CWD, folder, flags, Mode::empty(), resolve)?;
    let named = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if (named.st_dev, named.st_ino) != (stat.st_dev, stat.st_ino) {
        return Ok(false);
    }
    for _ in 0..DEEPEST {
        let own = rustix::fs::statx(&folder, "", AtFlags::EMPTY_PATH, StatxFlags::MODE)?;
        // A kernel that does not tell which folder is the root of a mount is older than 5.8.
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
