//! The file key: a path, or a descriptor that was inherited.

use std::fmt;
use std::path::PathBuf;

/// What the file key names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKey {
    /// A file, in `/dev/shm` or in a folder.
    Path(PathBuf),
    /// A descriptor that this process inherited, of a sealed memfd. Written `fd:7`.
    Descriptor(i32),
}

impl fmt::Display for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Descriptor(number) => write!(f, "fd:{number}"),
        }
    }
}
