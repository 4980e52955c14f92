//! Checks a file before its first byte is read. Only the descriptor is checked, never the path, so
//! that the file that was checked is the one that is mapped.

use super::error::AdoptError;
use super::file_key::FileKey;
use super::keys::Keys;
use crate::archive::Archive;
use core::cell::Cell;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, SealFlags, Stat};
use rustix::io::Errno;
use topobroker_layout::OpenError;
use topobroker_layout::header::{HEADER_LEN, Header};
use topobroker_process::{
    FileError, Trust, has_more_rights, is_of_one_user, other_than_regular, trust_of, variable,
};

/// Environment variable that, if it is 1, makes a process copy a segment instead of mapping it. It
/// is for processes that must not depend on the owner of a file: if the owner cuts the file short,
/// reading a mapping of it is a SIGBUS.
const COPY: &str = "TOPOBROKER_COPY";

/// Environment variable that, if it is 1, makes a process check all rules of what it adopts,
/// whoever has published it.
const CHECK: &str = "TOPOBROKER_CHECK";

/// An open file whose owner, mode or seals, and length have been checked. No byte of it has
/// been read yet.
pub(crate) struct Candidate {
    file: OwnedFd,
    pub(crate) keys: Keys,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Whether the file is known to be root's or this user's, and this process is of no other user
    /// too.
    has_known_owner: bool,
    /// Why the kernel does not map the file at its preferred address, if it was asked and refused.
    pub(crate) address_error: Cell<Option<Errno>>,
}

impl Candidate {
    pub(crate) fn open(keys: Keys, limit: u64) -> Result<Self, AdoptError> {
        let file = open(&keys)?;
        let stat = stat(&file, &keys)?;
        let has_known_owner = check_file(&file, &stat, &keys)?;
        check_length(&stat, &keys)?;
        check_size(&keys, limit)?;
        let (device, inode) = (stat.st_dev, stat.st_ino);
        let address_error = Cell::new(None);
        Ok(Self { file, keys, device, inode, has_known_owner, address_error })
    }

    /// Checks that the file still has the length that its keys say. Must be called after mapping:
    /// if the file was cut short before, the first access past its end would be a SIGBUS.
    pub(crate) fn check_length(&self) -> Result<(), AdoptError> {
        check_length(&stat(&self.file, &self.keys)?, &self.keys)
    }

    /// Reads bytes from an offset on, without mapping them.
    pub(crate) fn read_at(&self, at: u64, bytes: &mut [u8]) -> Result<(), FileError> {
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match rustix::io::pread(self.file.as_fd(), rest, at + done as u64)? {
                0 => return Err(FileError::Ended),
                read => done += read,
            }
        }
        Ok(())
    }

    /// Reads the header from the file, which says which segment it is without mapping it.
    #[cold]
    pub(crate) fn read_header(&self) -> Result<Header, AdoptError> {
        let mut bytes = [0; HEADER_LEN];
        let read = rustix::io::pread(self.file.as_fd(), &mut bytes, 0)
            .map_err(|error| AdoptError::Open { file: self.name(), source: error.into() })?;
        let bytes = bytes.get(..read).unwrap_or_default();
        Header::read(bytes).map_err(|error| self.refused(error.into()))
    }

    /// Opens a segment of the file. What its publisher has checked is not checked again if
    /// [`Candidate::is_trusted`].
    pub(crate) fn open_segment<'a>(
        &self,
        segment: &'a [u8],
    ) -> Result<(Header, Archive<'a>), OpenError> {
        let (header, archive, checked) =
            topobroker_layout::open_certified(segment, self.is_trusted())?;
        Ok((header, Archive::certified(archive, checked)))
    }

    /// Whether what the publisher says of its own checks is believed: it is known to be root or
    /// this user, and this process has no more rights than the user who started it, keeps no copy
    /// because it does not depend on owners, and has no variable that says to check everything.
    pub(crate) fn is_trusted(&self) -> bool {
        self.has_known_owner && !has_more_rights() && !is_to_copy() && !is_set(CHECK)
    }

    /// The error for a file that is not a sound segment.
    pub(crate) fn refused(&self, source: OpenError) -> AdoptError {
        AdoptError::Segment { file: self.name(), source }
    }

    /// Name of the file, for error messages.
    pub(crate) fn name(&self) -> FileKey {
        self.keys.file_key().clone()
    }
}

impl AsFd for Candidate {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Whether this process keeps a copy of what it adopts.
pub(super) fn is_to_copy() -> bool {
    is_set(COPY)
}

fn is_set(name: &str) -> bool {
    variable(name).is_some_and(|value| value == b"1")
}

/// Refuses a file that is longer than any segment, before anything of it is read or mapped.
fn check_size(keys: &Keys, limit: u64) -> Result<(), AdoptError> {
    let found = keys.size();
    if found <= limit {
        return Ok(());
    }
    Err(AdoptError::Long { file: keys.file_key().clone(), found, limit })
}

fn open(keys: &Keys) -> Result<OwnedFd, AdoptError> {
    // NONBLOCK, because otherwise opening a FIFO would block until somebody writes to it.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = match keys.file_key() {
        FileKey::Path(path) => rustix::fs::open(path.as_bytes(), flags, Mode::empty()),
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

/// Checks the kind, the owner and the mode or seals of a file. Returns whether its owner is known.
fn check_file(file: &OwnedFd, stat: &Stat, keys: &Keys) -> Result<bool, AdoptError> {
    let name = || keys.file_key().clone();
    if let Some(found) = other_than_regular(stat) {
        return Err(AdoptError::NotRegular { file: name(), found });
    }
    let has_known_owner = match trust_of(stat, keys.file()) {
        Trust::Owner => stat.st_uid == 0 || is_of_one_user(),
        Trust::Place => false,
        Trust::OtherUser => {
            let (found, expected) = (stat.st_uid, rustix::process::geteuid().as_raw());
            return Err(AdoptError::Owner { file: name(), found, expected });
        }
        Trust::Unmapped => return Err(AdoptError::Unmapped { file: name() }),
    };
    if let FileKey::Descriptor(_) = keys.file_key() {
        let wanted = SealFlags::WRITE | SealFlags::SHRINK;
        // A sealed memfd cannot be written, so its mode does not matter. Plain files never have
        // these seals.
        return match rustix::fs::fcntl_get_seals(file.as_fd()) {
            Ok(seals) if seals.contains(wanted) => Ok(has_known_owner),
            _ => Err(AdoptError::Unsealed { file: name() }),
        };
    }
    let mode = stat.st_mode & 0o7777;
    if mode & 0o022 != 0 {
        return Err(AdoptError::Writable { file: name(), found: mode });
    }
    Ok(has_known_owner)
}
