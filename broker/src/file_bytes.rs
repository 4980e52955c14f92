//! The bytes of a file that a user names: a segment, or a text; unpacked if they are compressed.

use crate::aligned::aligned;
use crate::compressed::decompressed;
use memmap2::Mmap;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use topobroker_layout::encode::AlignedVec;
use topobroker_process::bytes_within;
use topobroker_reader::FileError;

/// Endings of the names of compressed files that are read.
pub const COMPRESSED_ENDINGS: [&str; 4] = [".gz", ".xz", ".zst", ".bz2"];

/// A path with an ending behind its name: that of a file next to another one.
#[must_use]
pub fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The bytes of a file, at an address where an archive can be read. A regular file is mapped, and
/// only the pages that are used are read. If its owner cuts it short meanwhile, the kernel ends the
/// process with SIGBUS, so this is for programs; processes of a job adopt, which checks the owner.
#[derive(Debug)]
pub struct FileBytes(Bytes);

#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    /// What came out of a pipe or device.
    Read(AlignedVec),
}

/// Whose files are read in a folder where others may make some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Owners {
    /// Those of this user, of root, and of whoever owns the folder; no links.
    #[default]
    Trusted,
    /// Everybody's; no links.
    Any,
    /// The user has named this very file: it is read whatever it is.
    Named,
}

impl FileBytes {
    /// Opens a file that was found in a folder and that the user has not named, of at most `most`
    /// bytes, also unpacked. Where others may make files, links are not followed, and the owner of
    /// a file counts.
    ///
    /// # Errors
    ///
    /// Those of [`FileBytes::open`]. [`io::ErrorKind::PermissionDenied`] if it is a link, or
    /// belongs to somebody else, in a folder that others may write to.
    pub fn open_found(path: &Path, most: u64, owners: Owners) -> io::Result<Self> {
        match owners {
            Owners::Named => Self::open(path, most),
            _ => Self::of(open_found(path, owners)?, most),
        }
    }

    /// Opens a file of at most `most` bytes, also unpacked.
    ///
    /// ```
    /// # use topobroker::file_bytes::FileBytes;
    /// let bytes = FileBytes::open("/proc/self/cmdline".as_ref(), 1 << 20)?;
    /// assert_eq!(bytes.last(), Some(&0));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of opening or mapping it, or that it is longer.
    pub fn open(path: &Path, most: u64) -> io::Result<Self> {
        Self::of(File::open(path)?, most)
    }

    fn of(file: File, most: u64) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if metadata.len() > most {
            return Err(FileError::TooLong { limit: most }.into());
        }
        // Files of the kernel say that they are empty.
        if !metadata.is_file() || metadata.len() == 0 {
            return Self::read(file, most);
        }
        // SAFETY: the mapping is private and read-only. If the file is written meanwhile, the bytes
        // may change: they are checked as bytes of any value, and whoever may write the file may as
        // well give wrong ones from the start.
        let mapped = unsafe { Mmap::map(&file)? };
        Ok(Self(match decompressed(&mapped, most) {
            Some(whole) => Bytes::Read(aligned(&whole?)),
            None => Bytes::Mapped(mapped),
        }))
    }

    /// Reads at most `most` bytes, also unpacked, to the end of a pipe, device or file.
    ///
    /// # Errors
    ///
    /// The error of reading, or that there are more bytes.
    pub fn read(source: impl std::os::fd::AsFd, most: u64) -> io::Result<Self> {
        let bytes = bytes_within(most, source)?;
        let whole = decompressed(&bytes, most).unwrap_or(Ok(bytes))?;
        Ok(Self(Bytes::Read(aligned(&whole))))
    }

    /// The bytes as text. Each byte that is not UTF-8 becomes a replacement character.
    #[must_use]
    pub fn lossy_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self)
    }

    /// The bytes as text, without a byte order mark.
    ///
    /// # Errors
    ///
    /// If they are not UTF-8.
    pub fn text(&self) -> io::Result<&str> {
        let text = std::str::from_utf8(self)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped(bytes) => bytes,
            Bytes::Read(bytes) => bytes,
        }
    }
}

/// Opens a file that was found in a folder. The folder is held open, so that it cannot become
/// another one meanwhile.
fn open_found(path: &Path, owners: Owners) -> io::Result<File> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
    let opened = rustix::fs::open(
        folder,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let found = rustix::fs::fstat(&opened)?;
    let own = [0, rustix::process::geteuid().as_raw()];
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    if found.st_mode & 0o022 == 0 && own.contains(&found.st_uid) {
        return Ok(rustix::fs::openat(&opened, name, flags, Mode::empty())?.into());
    }
    let denied = |text| io::Error::new(io::ErrorKind::PermissionDenied, text);
    // A FIFO is not waited for.
    let restricted = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file: File = match rustix::fs::openat(&opened, name, restricted, Mode::empty()) {
        Err(Errno::LOOP) => {
            return Err(denied("is a link, in a folder that others may write to".to_owned()));
        }
        file => file?.into(),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(denied("is no regular file, in a folder that others may write to".to_owned()));
    }
    let owner = metadata.uid();
    let is_trusted = own.contains(&owner) || owner == found.st_uid || owners == Owners::Any;
    match is_trusted {
        true => Ok(file),
        false => Err(denied(format!(
            "belongs to user {owner}, in a folder that others may write to; --any-owner takes it"
        ))),
    }
}
