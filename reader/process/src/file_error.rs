//! Why a file cannot be used.

use crate::os_error::OsError;
use alloc::boxed::Box;
use core::error::Error;
use rustix::io::Errno;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum FileError {
    /// The kernel refuses.
    #[error(transparent)]
    Os(#[from] OsError),
    /// The file is not a regular file.
    #[error("is a {found}")]
    NotRegular { found: &'static str },
    /// Group or others may write the file.
    #[error("has mode {found:04o}, which others may write")]
    Writable { found: u32 },
    /// The file belongs to another user.
    #[error("belongs to user {found}")]
    OtherUser { found: u32 },
    /// The owner of the file could be anybody.
    #[error(
        "belongs to a user that this namespace does not map, in a folder that others may write"
    )]
    Unmapped,
    /// The file is longer than anything that is expected.
    #[error("has more than {limit} bytes")]
    TooLong { limit: u64 },
    /// The file ended early.
    #[error("ends before its length")]
    Ended,
    /// No address space is left for the file.
    #[error("is longer than the address space")]
    AddressSpace,
    /// The contents are not what they should be.
    #[error(transparent)]
    Content(Box<dyn Error + Send + Sync>),
}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> Self {
        Self::Os(errno.into())
    }
}

impl FileError {
    /// Whether the file does not exist, rather than cannot be used.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Os(error) if error.is(Errno::NOENT) || error.is(Errno::NOTDIR))
    }
}

#[cfg(feature = "std")]
mod with_std {
    use super::FileError;
    use std::io::{self, ErrorKind};

    impl From<FileError> for io::Error {
        fn from(error: FileError) -> Self {
            let kind = match error {
                FileError::Os(error) => return error.into(),
                FileError::TooLong { .. } => ErrorKind::FileTooLarge,
                FileError::Ended => ErrorKind::UnexpectedEof,
                FileError::AddressSpace => ErrorKind::OutOfMemory,
                FileError::Content(_) => ErrorKind::InvalidData,
                FileError::NotRegular { .. }
                | FileError::Writable { .. }
                | FileError::OtherUser { .. }
                | FileError::Unmapped => ErrorKind::PermissionDenied,
            };
            Self::new(kind, error)
        }
    }
}
