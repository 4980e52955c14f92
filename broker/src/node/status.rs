//! The segments on this node, their publishers, and the processes that map them.

use crate::linux::kernel_text;
pub use crate::publish::PublisherState;
pub use crate::publish::found::{Published, read};
use crate::publish::found::{is_segment_name, read_opened};
use crate::publish::{FileId, SHM_FOLDER, id_of, memfds, processes};
use rustix::fs::OFlags;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;

/// Why the published segments cannot be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum StatusError {
    /// A folder cannot be read.
    #[error("{folder}: cannot be listed")]
    List { folder: PathBuf, source: io::Error },
}

/// Lists the segments in shared memory, in `folders`, and in memfds of running processes.
///
/// # Errors
///
/// [`StatusError::List`] if `/dev/shm` or a folder cannot be listed.
pub fn published(folders: &[PathBuf]) -> Result<Vec<Published>, StatusError> {
    let mut files: BTreeMap<FileId, PathBuf> = BTreeMap::new();
    let shm = PathBuf::from(SHM_FOLDER);
    for folder in std::iter::once(&shm).chain(folders) {
        let entries = fs::read_dir(folder)
            .map_err(|source| StatusError::List { folder: folder.clone(), source })?;
        for entry in entries.flatten() {
            if is_segment_name(&entry.file_name().to_string_lossy()) {
                add(&mut files, entry.path());
            }
        }
    }
    for file in memfds() {
        if let Ok(metadata) = fs::metadata(&file) {
            files.entry(id_of(&metadata)).or_insert(file);
        }
    }
    let mut processes = processes_that_map(&files.keys().copied().collect());
    let found = files.into_iter().filter_map(|(id, file)| {
        let mapped_by = processes.remove(&id).unwrap_or_default();
        // In /proc the path of an open memfd is a link.
        let more = if file.starts_with("/proc") { OFlags::empty() } else { OFlags::NOFOLLOW };
        read_opened(&file, more, mapped_by).ok()
    });
    Ok(found.collect())
}

fn add(files: &mut BTreeMap<FileId, PathBuf>, file: PathBuf) {
    if let Ok(metadata) = fs::symlink_metadata(&file)
        && metadata.is_file()
    {
        files.entry(id_of(&metadata)).or_insert(file);
    }
}

/// Numbers of the processes that have each of `files` mapped.
fn processes_that_map(files: &BTreeSet<FileId>) -> BTreeMap<FileId, Vec<u32>> {
    let mut found: BTreeMap<FileId, Vec<u32>> = BTreeMap::new();
    for process in processes() {
        let number: Option<u32> = process.file_name().and_then(|name| name.to_str()?.parse().ok());
        let maps = kernel_text(process.join("maps")).unwrap_or_default();
        let mapped: BTreeSet<FileId> =
            maps.lines().filter_map(mapped_file).filter(|file| files.contains(file)).collect();
        for file in mapped {
            found.entry(file).or_default().extend(number);
        }
    }
    found
}

fn mapped_file(line: &str) -> Option<FileId> {
    let mut fields = line.split_ascii_whitespace().skip(3);
    let (major, minor) = fields.next()?.split_once(':')?;
    let number = |digits| u32::from_str_radix(digits, 16).ok();
    let device = rustix::fs::makedev(number(major)?, number(minor)?);
    Some((device, fields.next()?.parse().ok()?))
}
