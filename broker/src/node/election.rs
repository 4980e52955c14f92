//! Elects the one of many processes that discovers the machine, if it is not published.
//!
//! The ballot is a file in shared memory, one for each user and cgroup. The process that has locked
//! it has the turn; the kernel releases a dead process's lock. The ballot has the keys of the
//! segment that the winner published.

use super::status::{self, Published, PublisherState};
use crate::publish::{SHM_FOLDER, is_at, kept, remove_at_exit};
use rustix::fs::{FlockOperation, OFlags, flock};
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use topobroker_process::{Gate, Turn};
use topobroker_reader::Keys;
use topobroker_reader::ballot::{ballot, ballot_prefix, keys_in_ballot, open_ballot};

/// The turn of this process: no other process has the turn until this is dropped.
///
/// The lock belongs to the open file. So it stays if this process closes the ballot that it has
/// opened elsewhere, and it is given back explicitly, because forked children have the open file
/// too.
pub(super) struct Election {
    file: File,
    path: PathBuf,
    _turn: Option<Turn<'static>>,
}

/// How long a process waits for its turn. With hundreds of processes at once it has taken 20 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether processes may adopt a winner's segment: the winner runs, or has published it just now.
fn is_usable(published: &Published) -> bool {
    published.publisher == PublisherState::Alive
        || published.publisher == PublisherState::Gone && published.is_younger(kept())
}

impl Election {
    /// Waits for this process's turn. `None` if there can be no election: there is no shared
    /// memory, another user has made a file there, or the process that has the turn hangs.
    pub(super) fn enter() -> Option<Self> {
        /// Lets one thread at a time go on: only one of them has to look.
        static GATE: Gate = Gate::new();
        let turn = GATE.enter();
        let path = ballot()?;
        let (start, mut pause) = (Instant::now(), Duration::from_millis(1));
        while start.elapsed() < PATIENCE {
            let file = open_ballot(&path, OFlags::CREATE)?;
            let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
            // If the ballot was removed meanwhile, try again with the new one.
            if locked.is_ok() && is_at(&file, &path) {
                return Some(Self { file, path, _turn: turn });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(16));
        }
        None
    }

    /// Keys of the segment that an earlier winner published, if they are of use.
    pub(super) fn elected(&self) -> Option<Keys> {
        let keys = keys_in_ballot(&self.file)?;
        let published = status::read(keys.path()?).ok()?;
        is_usable(&published).then_some(keys)
    }

    /// Removes the ballots of earlier winners whose segments may not be adopted any more: then
    /// whoever publishes removes the segments.
    pub(super) fn close_others(&self) {
        close_others(Some(&self.path));
    }

    /// Gives other processes the keys of this process's segment, until this process ends and
    /// [`kept`] is over.
    pub(super) fn win(&self, keys: &Keys) {
        let mut file = &self.file;
        let written = file
            .rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(keys.to_string().as_bytes()));
        // If this fails, other processes discover the machine again.
        let _ = written;
        remove_at_exit(self.path.clone(), close);
    }
}

impl Drop for Election {
    fn drop(&mut self) {
        let empty = self.file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        // If nothing was published, the ballot has no use.
        if empty && is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Removes a ballot, unless a process has locked it or its segment is of use.
pub(crate) fn close(ballot: &Path) {
    let Some(file) = open_ballot(ballot, OFlags::empty()) else { return };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return;
    }
    let published = keys_in_ballot(&file).and_then(|keys| status::read(keys.path()?).ok());
    if !published.is_some_and(|it| is_usable(&it)) && is_at(&file, ballot) {
        let _ = std::fs::remove_file(ballot);
    }
    let _ = flock(&file, FlockOperation::Unlock);
}

/// Removes the ballots of this user that are not in use.
pub fn close_all() {
    close_others(None);
}

/// Removes the ballots of this user that are not in use, but for its `own`.
fn close_others(own: Option<&Path>) {
    let start = ballot_prefix();
    for entry in std::fs::read_dir(SHM_FOLDER).into_iter().flatten().flatten() {
        let ballot = entry.path();
        if entry.file_name().to_string_lossy().starts_with(&start) && own != Some(&ballot) {
            close(&ballot);
        }
    }
}
