//! What must hold of a file before its first byte is read. The descriptor is checked, never the path: what is
//! checked is what is mapped.

use super::error::AdoptError;
use super::file_key::FileKey;
use super::keys::Keys;
use super::owner::{Owner, owner};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, SealFlags, Stat};
use std::fs::File;
use std::io;
use std::path::Path;
use topobroker_layout::OpenError;
use topobroker_layout::header::{HEADER_LEN, Header, MAX_SEGMENT_LEN};

/// An open file that only root or this user can have written, as long as its keys say. Nothing in it is read yet.
pub(crate) struct Candidate {
    file: OwnedFd,
    pub(crate) keys: Keys,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Candidate {
    pub(crate) fn open(keys: Keys) -> Result<Self, AdoptError> {
        let file = open(&keys)?;
        let stat = stat(&file, &keys)?;
        check_file(&file, &stat, &keys)?;
        check_length(&stat, &keys)?;
        check_size(&keys)?;
        Ok(Self { file, keys, device: stat.st_dev, inode: stat.st_ino })
    }

    /// Whether the file is still as long as it was when it was checked. Asked once it is mapped: what was cut off
    /// before that would be a SIGBUS at the first look.
    pub(crate) fn check_length(&self) -> Result<(), AdoptError> {
        check_length(&stat(&self.file, &self.keys)?, &self.keys)
    }

    /// The header, of a file that need not be mapped to tell which segment it is.
    #[cold]
    pub(crate) fn read_header(&self) -> Result<Header, AdoptError> {
        let mut bytes = [0; HEADER_LEN];
        let read = rustix::io::pread(self.file.as_fd(), &mut bytes, 0)
            .map_err(|error| AdoptError::Open { file: self.name(), source: error.into() })?;
        let bytes = bytes.get(..read).unwrap_or_default();
        Header::read(bytes).map_err(|error| self.refused(error.into()))
    }

    /// The error of a file that is no sound segment.
    pub(crate) fn refused(&self, source: OpenError) -> AdoptError {
        AdoptError::Segment { file: self.name(), source }
    }

    /// What errors call it.
    pub(crate) fn name(&self) -> FileKey {
        self.keys.file_key().clone()
    }
}

impl AsFd for Candidate {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Opens a file that only root or this user can have written: a regular one, by its own name and not a
/// link's, that neither group nor others may write. A name alone proves nothing. In a container, where root may not be
/// known, a file in a folder that others cannot write to is opened too.
///
/// # Errors
///
/// `PermissionDenied` where it is not such a file, with what was found, else why it cannot be opened.
pub fn open_trusted(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    let denied = |found: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, found));
    if let Some(found) = other_than_regular(&stat) {
        return denied(format!("is a {found}"));
    }
    match owner(&stat, Some(path)) {
        Owner::Believed if stat.st_mode & 0o022 == 0 => Ok(file.into()),
        Owner::Believed => {
            denied(format!("has mode {:04o}, which others may write", stat.st_mode & 0o7777))
        }
        Owner::Other => denied(format!("belongs to user {}", stat.st_uid)),
        Owner::Unmapped => denied(
            "belongs to a user that this namespace does not map, in a folder that others may write"
                .to_owned(),
        ),
    }
}

/// No segment is longer than that, so nothing of such a file is read or mapped.
fn check_size(keys: &Keys) -> Result<(), AdoptError> {
    if keys.size() <= MAX_SEGMENT_LEN {
        return Ok(());
    }
    let (found, limit) = (keys.size(), MAX_SEGMENT_LEN);
    Err(AdoptError::Long { file: keys.file_key().clone(), found, limit })
}

fn open(keys: &Keys) -> Result<OwnedFd, AdoptError> {
    // NONBLOCK: a FIFO in the file's place must not hold the process until somebody writes.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = match keys.file_key() {
        FileKey::Path(path) => rustix::fs::open(path, flags, Mode::empty()),
        FileKey::Descriptor(number) => super::descriptor::duplicate(*number),
    };
    opened.map_err(|error| match error {
        rustix::io::Errno::LOOP => AdoptError::Symlink { file: keys.file_key().clone() },
        _ => AdoptError::Open { file: keys.file_key().clone(), source: error.into() },
    })
}

fn stat(file: &OwnedFd, keys: &Keys) -> Result<Stat, AdoptError> {
    let failed = |error: rustix::io::Errno| AdoptError::Open {
        file: keys.file_key().clone(),
        source: error.into(),
    };
    rustix::fs::fstat(file.as_fd()).map_err(failed)
}

fn check_length(stat: &Stat, keys: &Keys) -> Result<(), AdoptError> {
    let found = u64::try_from(stat.st_size).unwrap_or(0);
    if found == keys.size() {
        return Ok(());
    }
    Err(AdoptError::Size { file: keys.file_key().clone(), found, expected: keys.size() })
}

fn check_file(file: &OwnedFd, stat: &Stat, keys: &Keys) -> Result<(), AdoptError> {
    let name = || keys.file_key().clone();
    if let Some(found) = other_than_regular(stat) {
        return Err(AdoptError::NotRegular { file: name(), found });
    }
    match owner(stat, keys.file()) {
        Owner::Believed => (),
        Owner::Other => {
            let (found, expected) = (stat.st_uid, rustix::process::geteuid().as_raw());
            return Err(AdoptError::Owner { file: name(), found, expected });
        }
        Owner::Unmapped => return Err(AdoptError::Unmapped { file: name() }),
    }
    if let FileKey::Descriptor(_) = keys.file_key() {
        let wanted = SealFlags::WRITE | SealFlags::SHRINK;
        // Sealed, so its mode says nothing. A descriptor of a plain file has no seals.
        return match rustix::fs::fcntl_get_seals(file.as_fd()) {
            Ok(seals) if seals.contains(wanted) => Ok(()),
            _ => Err(AdoptError::Unsealed { file: name() }),
        };
    }
    let mode = stat.st_mode & 0o7777;
    if mode & 0o022 != 0 {
        return Err(AdoptError::Writable { file: name(), found: mode });
    }
    Ok(())
}

/// What a file is, if it is not a regular one.
fn other_than_regular(stat: &Stat) -> Option<&'static str> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => None,
        FileType::Directory => Some("directory"),
        FileType::Fifo => Some("FIFO"),
        FileType::Socket => Some("socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("device"),
        _ => Some("special file"),
    }
}
