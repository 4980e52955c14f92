//! Publishing: segments that every process of the node can adopt, jobs over them, and files for
//! programs that know only hwloc or PMIx.

mod address;
#[allow(unsafe_code, reason = "the C library is told what to do at exit")]
mod at_exit;
mod error;
mod header;
pub mod job;
pub mod legacy;
mod options;
mod publish;
mod publisher;
mod remove;
pub mod slots;
mod store;

pub use address::Address;
pub(crate) use at_exit::remove_at_exit;
pub use error::{LegacyError, PublishError};
pub(crate) use header::{framed, header_of};
pub use options::{NAME_PREFIX, PublishOptions, Store};
pub use publish::{Publication, publish};
pub(crate) use publisher::Publisher;
pub use publisher::{PublisherState, boot_id, now, random, state_of};
pub(crate) use remove::{remove, remove_file};
pub(crate) use store::file_id::{FileId, id_of, is_at, remove_if};
pub(crate) use store::named;
pub use store::shm::FOLDER as SHM_FOLDER;
