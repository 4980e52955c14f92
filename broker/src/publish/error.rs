//! Why a topology cannot be published.

use crate::hwloc::HwlocLoadError;
use std::io;
use std::path::{Path, PathBuf};
use topobroker_layout::OpenError;
use topobroker_layout::encode::EncodeError;
use topobroker_reader::jobs::SourceError;

/// Why a topology cannot be published. Nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum PublishError {
    /// The description cannot be archived.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The archive of the description does not pass validation.
    #[error("the topology cannot be published")]
    Archive(#[from] OpenError),
    /// A step fails.
    #[error("{file}: cannot {step}")]
    Store { file: PathBuf, step: &'static str, source: io::Error },
    /// There is no room for the file.
    #[error(
        "{file}: no room for {needed} bytes (free some, or publish elsewhere with another store)"
    )]
    Full { file: PathBuf, needed: u64, source: io::Error },
    /// The kernel does not report the identity of a process or boot.
    #[error("{what}: gives no answer")]
    Identity { what: String, source: io::Error },
    /// The files for hwloc cannot be published.
    #[error(transparent)]
    Legacy(Box<LegacyError>),
    /// The requested address cannot be mapped.
    #[error(
        "address {found:#x} cannot be a preferred address; expected a multiple of 0x10000 below \
         0x{limit:x}"
    )]
    Address { found: u64, limit: u64 },
}

/// Why the files for hwloc cannot be published. They are all removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LegacyError {
    /// hwloc cannot load the topology from its XML.
    #[error("there is no hwloc segment")]
    Load(#[from] HwlocLoadError),
    /// hwloc cannot write a file.
    #[error("{file}: hwloc cannot {step}")]
    Hwloc { file: PathBuf, step: &'static str, source: io::Error },
    /// No address for hwloc segments is free in this process.
    #[error("{file}: no address for hwloc segments is free in this process")]
    Address { file: PathBuf, source: io::Error },
    /// A file for hwloc cannot be made.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// Slots were asked for next to a topology that is not of this machine.
    #[error(
        "slots for the hwloc guard are of this machine, but the topology is not; publish this \
         machine"
    )]
    OtherMachine,
    /// Slots were asked for next to a memfd.
    #[error(
        "slots for the hwloc guard are in a file next to that of the segment, but a memfd is no \
         file; use another store"
    )]
    Memfd,
    /// Slots were asked for so many loads that they have no room in one file.
    #[error(
        "{found} different loads for the hwloc guard; expected at most {limit}: leave some out"
    )]
    Loads { found: usize, limit: usize },
    /// A caller is no name of a file.
    #[error(
        "{found:?} is no name of a library or program; expected one without folders, such as \
         libfoo.so.2"
    )]
    Caller { found: String },
    /// The names of callers that the guard is to serve do not fit into the file.
    #[error(
        "the names of callers for the hwloc guard have {found} bytes; expected at most {limit}: \
         leave some out"
    )]
    Callers { found: usize, limit: usize },
    /// It is not known what hwloc's discovery depends on here.
    #[error("there are no slots for the hwloc guard")]
    Conditions(#[from] SourceError),
    /// The archive of the description does not pass validation.
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

/// Makes the error of a failed step: [`PublishError::Full`] if there is no room, otherwise
/// [`PublishError::Store`].
pub(super) fn failed<'f>(
    file: &'f Path,
    step: &'static str,
    needed: usize,
) -> impl Fn(io::Error) -> PublishError + 'f {
    move |source| {
        let file = file.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => {
                PublishError::Full { file, needed: needed as u64, source }
            }
            _ => PublishError::Store { file, step, source },
        }
    }
}
