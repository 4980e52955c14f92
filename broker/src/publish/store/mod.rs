//! Where segments are kept: a file in `/dev/shm` or in a folder, or a sealed memfd.

pub(crate) mod file_id;
pub(super) mod memfd;
pub(crate) mod named;
pub(super) mod shm;
