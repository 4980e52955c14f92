//! The file key: a path, or an inherited descriptor.

use core::fmt;
use topobroker_process::FilePath;

/// A file key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKey {
    /// Path of a file, in `/dev/shm` or in another folder.
    Path(FilePath),
    /// Number of an inherited descriptor of a sealed memfd. Written `fd:7`.
    Descriptor(i32),
}

impl fmt::Display for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => fmt::Display::fmt(path, f),
            Self::Descriptor(number) => write!(f, "fd:{number}"),
        }
    }
}
