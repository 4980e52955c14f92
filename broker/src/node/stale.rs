//! Removes what dead publishers have left.

use super::status::{PublisherState, is_segment_name, read};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Removes this user's segments in a folder if their publisher is gone: those of killed processes
/// and of an earlier boot. A segment that the keys of the folder name stays, and so do those in
/// `named`.
pub fn remove_stale(folder: &Path, named: &BTreeSet<PathBuf>) {
    let me = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_segment_name(&entry.file_name().to_string_lossy())
            && let Ok(found) = read(&entry.path())
            && found.owner == me
            && found.publisher == PublisherState::Gone
            && !found.is_announced()
            && !named.contains(&entry.path())
        {
            // Another process may have removed it first.
            let _ = found.remove();
        }
    }
}
