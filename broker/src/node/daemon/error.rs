//! Why the daemon cannot go on.

use crate::publish::PublishError;
use std::io;
use std::path::PathBuf;

/// Why the daemon cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// Another daemon has the folder.
    #[error("{folder}: another daemon publishes here; stop it, or serve another folder")]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// Another user could change what is in the folder.
    #[error(
        "{folder}: cannot be served: {part} {found}; expected folders of root or this user that nobody else can write to"
    )]
    Shared {
        /// The folder.
        folder: PathBuf,
        /// It, or one above it.
        part: PathBuf,
        /// What is wrong with that.
        found: String,
    },
    /// The path of the folder cannot be told to processes.
    #[error("{folder:?}: cannot be served: expected a path that is one line of UTF-8")]
    Name {
        /// The folder.
        folder: PathBuf,
    },
    /// Something with the folder fails.
    #[error("{file}: cannot {step}")]
    Folder {
        /// The file.
        file: PathBuf,
        /// What cannot be done.
        step: &'static str,
        /// Why.
        source: io::Error,
    },
    /// What was published cannot be removed.
    #[error(transparent)]
    Publish(#[from] PublishError),
}
