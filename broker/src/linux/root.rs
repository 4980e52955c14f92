//! The root of a file system: that of this node, or a saved one.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use topobroker_reader::internal::text_within;

/// Maximum length of a file that is read, in bytes.
const MOST: u64 = 1 << 16;

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

    /// Path of a file below the root.
    #[must_use]
    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(Path::new(file))
    }

    /// The text of a file, without blanks around it; `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// The error of reading. Bytes that are not UTF-8, and a file of more than 64 kB, are
    /// [`io::ErrorKind::InvalidData`].
    pub fn text(&self, file: &str) -> io::Result<Option<String>> {
        let opened = match File::open(self.path(file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        Ok(Some(text_within(MOST, opened).map_err(invalid)?.trim().to_owned()))
    }

    /// The text of a file, if it can be read and says anything.
    pub(super) fn told(&self, file: &str) -> Option<String> {
        self.text(file).ok().flatten().filter(|text| !text.is_empty())
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
