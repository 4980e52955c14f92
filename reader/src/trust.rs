//! What must hold of a file before its first byte is believed. The descriptor is checked, never
//! the path: what is checked is what is mapped.

use crate::error::AdoptError;
use crate::keys::{Keys, Store};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, SealFlags, Stat};
use std::fs::File;
use std::io;
use std::path::Path;
use topobroker_layout::OpenError;
use topobroker_layout::header::{HEADER_LEN, Header};

/// An open file that is what its keys say, with a header that may be read on. Its archive is not
/// checked yet.
pub(crate) struct Candidate {
    file: OwnedFd,
    pub(crate) keys: Keys,
    pub(crate) header: Header,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Candidate {
    pub(crate) fn open(keys: Keys) -> Result<Self, AdoptError> {
        let name = || keys.store().to_string();
        let file = open(&keys)?;
        let stat = rustix::fs::fstat(file.as_fd())
            .map_err(|error| AdoptError::Open { file: name(), source: error.into() })?;
        check_file(&file, &stat, &keys)?;
        let found = u64::try_from(stat.st_size).unwrap_or(0);
        if found != keys.size() {
            return Err(AdoptError::Size { file: name(), found, expected: keys.size() });
        }
        let header = read_header(&file, name)?;
        if header.size != found {
            return Err(AdoptError::Size { file: name(), found, expected: header.size });
        }
        if keys.address() != 0 && keys.address() != header.address {
            let (found, expected) = (header.address, keys.address());
            return Err(AdoptError::Address { file: name(), found, expected });
        }
        Ok(Self { file, keys, header, device: stat.st_dev, inode: stat.st_ino })
    }

    /// Whether the file is still as long as it was when it was checked. Asked once it is mapped: what was cut off
    /// before that would be a SIGBUS at the first look.
    pub(crate) fn check_length(&self) -> Result<(), AdoptError> {
        let stat = rustix::fs::fstat(self.file.as_fd())
            .map_err(|error| AdoptError::Open { file: self.name(), source: error.into() })?;
        match (u64::try_from(stat.st_size).unwrap_or(0), self.header.size) {
            (found, expected) if found == expected => Ok(()),
            (found, expected) => Err(AdoptError::Size { file: self.name(), found, expected }),
        }
    }

    /// What errors call it.
    pub(crate) fn name(&self) -> String {
        self.keys.store().to_string()
    }
}

impl AsFd for Candidate {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Opens a file that only root or this user can have written: a regular one, by its own name and not a
/// link's, that neither group nor others may write. A name alone proves nothing.
///
/// # Errors
///
/// `PermissionDenied` where it is not such a file, else why it cannot be opened.
pub fn open_trusted(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    let own = stat.st_uid == 0 || stat.st_uid == rustix::process::geteuid().as_raw();
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    match own && regular && stat.st_mode & 0o022 == 0 {
        true => Ok(file.into()),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

fn open(keys: &Keys) -> Result<OwnedFd, AdoptError> {
    // NONBLOCK: a FIFO in the file's place must not hold the process until somebody writes.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = match keys.store() {
        Store::File(path) => rustix::fs::open(path, flags, Mode::empty()),
        Store::Descriptor(number) => crate::descriptor::duplicate(*number),
    };
    opened.map_err(|error| match error {
        rustix::io::Errno::LOOP => AdoptError::Symlink { file: keys.store().to_string() },
        _ => AdoptError::Open { file: keys.store().to_string(), source: error.into() },
    })
}

fn check_file(file: &OwnedFd, stat: &Stat, keys: &Keys) -> Result<(), AdoptError> {
    let name = || keys.store().to_string();
    let found = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => None,
        FileType::Directory => Some("directory"),
        FileType::Fifo => Some("FIFO"),
        FileType::Socket => Some("socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("device"),
        _ => Some("special file"),
    };
    if let Some(found) = found {
        return Err(AdoptError::NotRegular { file: name(), found });
    }
    let expected = rustix::process::geteuid().as_raw();
    if stat.st_uid != 0 && stat.st_uid != expected {
        return Err(AdoptError::Owner { file: name(), found: stat.st_uid, expected });
    }
    if let Store::Descriptor(_) = keys.store() {
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

fn read_header(file: &OwnedFd, name: impl Fn() -> String) -> Result<Header, AdoptError> {
    let mut bytes = [0; HEADER_LEN];
    let read = rustix::io::pread(file.as_fd(), &mut bytes, 0)
        .map_err(|error| AdoptError::Open { file: name(), source: error.into() })?;
    let bytes = bytes.get(..read).unwrap_or_default();
    Header::read(bytes)
        .map_err(|error| AdoptError::Segment { file: name(), source: OpenError::Header(error) })
}
