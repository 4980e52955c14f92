//! Why the daemon cannot serve a folder.

use crate::publish::PublishError;
use std::io;
use std::path::PathBuf;

/// Why the daemon cannot serve a folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum DaemonError {
    /// Another daemon has the folder.
    #[error("{folder}: another daemon publishes here; stop it, or serve another folder")]
    Busy { folder: PathBuf },
    /// Another user could change the content of the folder.
    #[error(
        "{folder}: cannot be served: {part} {found}; expected folders of root or this user that \
         only their owner can write to"
    )]
    Shared { folder: PathBuf, part: PathBuf, found: String },
    /// The path of the folder cannot be written into the file with the keys.
    #[error("{folder:?}: cannot be served: expected a path that is one line of UTF-8")]
    Name { folder: PathBuf },
    /// An operation on the folder or on a file in it fails.
    #[error("{file}: cannot {step}")]
    Folder { file: PathBuf, step: &'static str, source: io::Error },
    /// A published segment cannot be removed.
    #[error(transparent)]
    Publish(#[from] PublishError),
}
