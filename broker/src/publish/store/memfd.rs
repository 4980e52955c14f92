//! A segment in a sealed memfd: children inherit it, and it cannot be changed.

use super::named;
use crate::publish::error::{PublishError, failed};
use crate::publish::options::NAME_PREFIX;
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, SealFlags};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

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

/// Folders of processes in `/proc`.
pub(crate) fn processes() -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()))
        .map(|entry| entry.path())
}

/// The paths in `/proc` of memfds with segments that processes of this node have open, among those
/// that this user may inspect.
pub(crate) fn memfds() -> Vec<PathBuf> {
    let descriptors = processes().flat_map(|process| {
        fs::read_dir(process.join("fd")).into_iter().flatten().flatten().map(|entry| entry.path())
    });
    let is_ours = |descriptor: &PathBuf| {
        let target = fs::read_link(descriptor).unwrap_or_default();
        target.to_string_lossy().starts_with(&format!("/memfd:{NAME_PREFIX}"))
    };
    descriptors.filter(is_ours).collect()
}
