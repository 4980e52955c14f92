//! A path of a file, in a crate that may be built without the standard library.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Path of a file: any bytes, as the kernel takes them. It is `topobroker_reader::FilePath` too.
///
/// With the feature `std` it converts from and to [`Path`](std::path::Path).
///
/// ```
/// use topobroker_process::FilePath;
/// let folder = FilePath::from("/run/topobroker");
/// assert_eq!(folder.join("keys").to_string(), "/run/topobroker/keys");
/// assert_eq!(folder.file_name(), Some(b"topobroker".as_slice()));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(Vec<u8>);

impl FilePath {
    /// A path of these bytes.
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Its bytes, without a zero at the end.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path as text; `None` if it is not UTF-8.
    #[must_use]
    pub fn to_str(&self) -> Option<&str> {
        core::str::from_utf8(&self.0).ok()
    }

    /// Whether it starts at the root.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        self.0.starts_with(b"/")
    }

    /// The path of `name` below this one.
    #[must_use]
    pub fn join(&self, name: impl AsRef<[u8]>) -> Self {
        let mut bytes = self.0.clone();
        if !bytes.is_empty() && !bytes.ends_with(b"/") {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name.as_ref());
        Self(bytes)
    }

    /// Its last part; `None` if that is not a name.
    #[must_use]
    pub fn file_name(&self) -> Option<&[u8]> {
        let (_, name) = self.split()?;
        (!matches!(name, b"." | b"..")).then_some(name)
    }

    /// The folder above it; `None` for the root and for a single name.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (folder, _) = self.split()?;
        (!folder.is_empty()).then(|| Self(folder.to_vec()))
    }

    /// The folder above, empty for a single name, and the last part.
    fn split(&self) -> Option<(&[u8], &[u8])> {
        let path = without_slashes(&self.0);
        let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let (folder, name) = path.split_at_checked(start)?;
        let folder = match without_slashes(folder) {
            [] => folder.get(..1).unwrap_or_default(),
            folder => folder,
        };
        (!name.is_empty()).then_some((folder, name))
    }
}

/// A path without the slashes at its end.
fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    path.get(..end).unwrap_or_default()
}

impl From<&str> for FilePath {
    fn from(path: &str) -> Self {
        Self(path.into())
    }
}

impl From<&Self> for FilePath {
    fn from(path: &Self) -> Self {
        path.clone()
    }
}

impl From<String> for FilePath {
    fn from(path: String) -> Self {
        Self(path.into_bytes())
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(&self.0), f)
    }
}

#[cfg(feature = "std")]
mod with_std {
    use super::FilePath;
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    impl FilePath {
        /// The path as the standard library has it.
        #[must_use]
        pub fn as_path(&self) -> &Path {
            Path::new(OsStr::from_bytes(&self.0))
        }
    }

    impl AsRef<Path> for FilePath {
        fn as_ref(&self) -> &Path {
            self.as_path()
        }
    }

    impl From<&Path> for FilePath {
        fn from(path: &Path) -> Self {
            Self(path.as_os_str().as_bytes().to_vec())
        }
    }

    impl From<PathBuf> for FilePath {
        fn from(path: PathBuf) -> Self {
            path.into_os_string().into()
        }
    }

    impl From<OsString> for FilePath {
        fn from(path: OsString) -> Self {
            Self(path.into_vec())
        }
    }

    impl From<FilePath> for OsString {
        fn from(path: FilePath) -> Self {
            Self::from_vec(path.0)
        }
    }

    impl From<FilePath> for PathBuf {
        fn from(path: FilePath) -> Self {
            OsString::from(path).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn folders_and_names_are_those_of_the_standard_library() {
        for path in ["/", "/a", "/a/", "/a//b", "a", "a/b", "", "//a", "/a/..", ".", "/a/b//"] {
            let (ours, theirs) = (FilePath::from(path), Path::new(path));
            let name = theirs.file_name().map(|name| name.as_encoded_bytes());
            assert_eq!(ours.file_name(), name, "{path:?}");
            let parent = theirs.parent().filter(|_| name.is_some());
            let parent = parent.filter(|folder| !folder.as_os_str().is_empty());
            let own = ours.parent().filter(|_| name.is_some());
            assert_eq!(own.as_ref().map(FilePath::as_path), parent, "{path:?}");
            assert_eq!(ours.join("x").as_path(), theirs.join("x"), "{path:?}");
            assert_eq!(ours.is_absolute(), theirs.is_absolute(), "{path:?}");
        }
    }
}
