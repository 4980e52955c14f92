//! Why a topology is not published.

use crate::hwloc::HwlocLoadError;
use std::io;
use std::path::{Path, PathBuf};
use topobroker_layout::OpenError;
use topobroker_layout::encode::EncodeError;

/// Why a topology is not published. Nothing of it is left behind then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The description cannot be archived.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// What is described makes no sound archive.
    #[error("the topology cannot be published")]
    Archive(#[from] OpenError),
    /// A step fails.
    #[error("{file}: cannot {step}")]
    Store {
        /// The file, or the folder that it should be in.
        file: PathBuf,
        /// What cannot be done.
        step: &'static str,
        /// Why.
        source: io::Error,
    },
    /// There is no room.
    #[error(
        "{file}: no room for {needed} bytes (free some, or publish elsewhere with another store)"
    )]
    Full {
        /// The file, or the folder that it should be in.
        file: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Why.
        source: io::Error,
    },
    /// The kernel does not tell who this process is.
    #[error("{what}: does not tell who this process is")]
    Identity {
        /// What was asked for.
        what: String,
        /// Why it is not known.
        source: io::Error,
    },
    /// What is for hwloc cannot be published.
    #[error(transparent)]
    Legacy(Box<LegacyError>),
    /// An address is asked for that cannot be mapped.
    #[error(
        "address {found:#x} cannot be a preferred address; expected a multiple of 0x10000 below 0x{limit:x}"
    )]
    Address {
        /// The address.
        found: u64,
        /// First address that is too high.
        limit: u64,
    },
}

/// Why there is nothing for hwloc. Nothing of it is left behind then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LegacyError {
    /// hwloc does not take back its own topology.
    #[error("there is no hwloc segment")]
    Load(#[from] HwlocLoadError),
    /// hwloc cannot write it.
    #[error("{file}: hwloc cannot {step}")]
    Hwloc {
        /// What it is for.
        file: PathBuf,
        /// What it was asked for.
        step: &'static str,
        /// Its error.
        source: io::Error,
    },
    /// No address for it is free in this process.
    #[error("{file}: none of the addresses for hwloc segments is free in this process")]
    Address {
        /// What it is for.
        file: PathBuf,
        /// hwloc's error at the last of them.
        source: io::Error,
    },
    /// A file cannot be made.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The description makes no sound archive.
    #[error("the topology cannot be given to hwloc")]
    Archive(#[from] OpenError),
}

impl From<LegacyError> for PublishError {
    fn from(error: LegacyError) -> Self {
        match error {
            LegacyError::Publish(error) => error,
            error => Self::Legacy(Box::new(error)),
        }
    }
}

/// The error of a failed step; of a full file system, one that says so.
pub(super) fn failed<'f>(
    file: &'f Path,
    step: &'static str,
    needed: usize,
) -> impl Fn(io::Error) -> PublishError + 'f {
    move |source| {
        let file = file.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                PublishError::Full { file, needed: needed as u64, source }
            }
            io::ErrorKind::FileTooLarge => {
                PublishError::Full { file, needed: needed as u64, source }
            }
            _ => PublishError::Store { file, step, source },
        }
    }
}
