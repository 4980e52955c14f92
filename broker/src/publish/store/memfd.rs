//! A segment in a sealed memfd: children inherit it, and nobody can change it.

use super::named;
use crate::publish::error::{PublishError, failed};
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, SealFlags};
use std::fs::File;
use std::path::Path;

pub(in crate::publish) fn publish(
    name: &str,
    segment: &mut [u8],
    mode: u32,
) -> Result<OwnedFd, PublishError> {
    let path = Path::new(name);
    let length = segment.len();
    // Without CLOEXEC, because children inherit it.
    let fd = rustix::fs::memfd_create(name, MemfdFlags::ALLOW_SEALING)
        .map_err(|error| failed(path, "make a memfd", length)(error.into()))?;
    let file = File::from(fd);
    named::fill(&file, path, length, mode, |file| named::write_segment(file, segment))?;
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)
        .map_err(|error| failed(path, "seal the memfd", length)(error.into()))?;
    Ok(file.into())
}
