//! The bytes of a file that a user names: a segment, or a text; unpacked if they are compressed.

use crate::aligned::aligned;
use crate::compressed::decompressed;
use memmap2::Mmap;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;
use topobroker_layout::encode::AlignedVec;
use topobroker_process::bytes_within;
use topobroker_reader::FileError;

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

impl FileBytes {
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
        let file = File::open(path)?;
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

    /// The bytes as text.
    ///
    /// # Errors
    ///
    /// If they are not UTF-8.
    pub fn text(&self) -> io::Result<&str> {
        std::str::from_utf8(self).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
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
