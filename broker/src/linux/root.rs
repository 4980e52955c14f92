//! The root of a file system: that of this node, or a saved one.

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use topobroker_process::bytes_within;

/// Maximum length of a file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 16;

/// Maximum length of a text that becomes a fact, in bytes.
const LONGEST_LINE: usize = 256;

/// The root of a Linux file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Root {
    /// The root of this node.
    #[must_use]
    pub fn of_this_node() -> Self {
        Self::saved("/")
    }

    /// The root of a saved file system.
    #[must_use]
    pub fn saved(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Whether it is that of this node.
    pub(super) fn is_of_this_node(&self) -> bool {
        self.0 == Path::new("/")
    }

    /// Path of a file below the root.
    #[must_use]
    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(Path::new(file))
    }

    /// The text of a file, without blanks around it; `None` if there is no such file. Links do not
    /// lead out of a saved file system.
    ///
    /// # Errors
    ///
    /// The error of reading. A file of more than 64 kB, and what is no regular file are
    /// [`io::ErrorKind::InvalidData`].
    pub fn text(&self, file: &str) -> io::Result<Option<String>> {
        self.text_up_to(file, MOST_BYTES)
    }

    /// [`Root::text`] of a file that may be longer.
    pub(super) fn text_up_to(&self, file: &str, most: u64) -> io::Result<Option<String>> {
        let opened = match self.open(file) {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            opened => opened?,
        };
        let invalid = |error: String| io::Error::new(io::ErrorKind::InvalidData, error);
        let stat = rustix::fs::fstat(&opened)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(invalid("is no regular file".to_owned()));
        }
        let text = bytes_within(most, opened).map_err(|error| invalid(error.to_string()))?;
        Ok(Some(String::from_utf8_lossy(&text).trim().to_owned()))
    }

    /// The name of what a symbolic link leads to; `None` if there is no such link.
    pub(super) fn link(&self, file: &str) -> Option<String> {
        let target = std::fs::read_link(self.path(file)).ok()?;
        Some(target.file_name()?.to_str()?.to_owned())
    }

    fn open(&self, file: &str) -> rustix::io::Result<OwnedFd> {
        // A FIFO must not hold us up.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        if self.is_of_this_node() {
            return rustix::fs::openat(CWD, self.path(file), flags, Mode::empty());
        }
        let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, &self.0, folder, Mode::empty())?;
        match rustix::fs::openat2(&root, file, flags, Mode::empty(), ResolveFlags::IN_ROOT) {
            // A kernel before 5.6, or a container that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                rustix::fs::openat(&root, file, flags, Mode::empty())
            }
            opened => opened,
        }
    }

    /// The text of a file, if it can be read and is one line of printable characters.
    pub(super) fn line(&self, file: &str) -> Option<String> {
        let is_line = |text: &String| {
            (1..=LONGEST_LINE).contains(&text.len()) && !text.chars().any(char::is_control)
        };
        self.text(file).ok().flatten().filter(is_line)
    }

    /// Names in a folder, in ascending order.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }
}
