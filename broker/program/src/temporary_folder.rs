//! Folders for what this process needs for a while. They go with their owner, and when a signal
//! ends this process.

use crate::signals::{self, Signals};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// A folder in the folder for temporary files.
pub(crate) struct TemporaryFolder(TempDir);

/// The folders of this process; `None` before the first one, when no signal is caught yet.
static FOLDERS: Mutex<Option<Vec<PathBuf>>> = Mutex::new(None);

fn folders() -> MutexGuard<'static, Option<Vec<PathBuf>>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TemporaryFolder {
    pub(crate) fn new() -> io::Result<Self> {
        let mut folders = folders();
        if folders.is_none() {
            let signals = Signals::catch_ending()?;
            std::thread::spawn(|| end_at(signals));
        }
        let folder = tempfile::tempdir()?;
        folders.get_or_insert_default().push(folder.path().to_owned());
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        folders().iter_mut().for_each(|all| all.retain(|folder| folder != self.path()));
    }
}

const TRIES: u32 = 100;

/// Waits for a signal, removes all folders, and ends this process.
fn end_at(mut signals: Signals) {
    let Some(signal) = signals.wait_any().first().copied() else { return };
    // As long as this is held, no other folder is made.
    let folders = folders();
    for folder in folders.iter().flatten() {
        // Another thread may be writing into it.
        let is_gone = |_| std::fs::remove_dir_all(folder).is_ok() || !folder.exists();
        let _ = (0..TRIES).any(is_gone);
    }
    signals::end_by(signal);
}
