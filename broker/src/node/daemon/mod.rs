//! The node-wide daemon: publishes the node's current topology in one folder.
//!
//! The folder has the segment of the newest generation, the one before it (because a process may
//! have just read its keys), older ones that still have jobs, `keys` with the environment lines of
//! the newest, and `lock`, which the daemon locks.

mod error;
mod own_folder;

pub use error::DaemonError;

use crate::node::status::{self, PublisherState};
use crate::publish::job;
use crate::publish::{NAME_PREFIX, Publication, is_at, remove};
use own_folder::OwnFolder;
use rustix::fs::FlockOperation;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use topobroker_reader::{Keys, jobs::Cgroup};

/// The folder of a daemon. No other daemon can take it as long as this lives.
#[derive(Debug)]
pub struct Folder {
    folder: OwnFolder,
    _lock: File,
    current: Option<Publication>,
    /// Files of earlier generations, the newest last, of this daemon and of earlier ones.
    before: Vec<PathBuf>,
    generation: u64,
}

impl Folder {
    /// Takes a folder, and makes it if it does not exist.
    ///
    /// Segments of an earlier daemon stay until the first announcement. The newest of them stays
    /// until the second one, because processes may have just read its keys.
    ///
    /// # Errors
    ///
    /// [`DaemonError::Busy`] if another daemon has the folder.
    pub fn take(path: &Path) -> Result<Self, DaemonError> {
        let failed = |file: &Path, step| {
            let file = file.to_owned();
            move |source: io::Error| DaemonError::Folder { file, step, source }
        };
        if path.to_str().is_none_or(|path| path.contains('\n')) {
            return Err(DaemonError::Name { folder: path.to_owned() });
        }
        let path = std::path::absolute(path).map_err(failed(path, "find the folder"))?;
        let (folder, lock) = loop {
            let folder = OwnFolder::open(&path)?;
            let file = folder.path.join(LOCK);
            let lock = folder.open_file(LOCK).map_err(failed(&file, "open the lock"))?;
            if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
                return Err(DaemonError::Busy { folder: folder.path.clone() });
            }
            // Try again if another daemon has just removed the lock file.
            if is_at(&lock, &file) {
                break (folder, lock);
            }
        };
        let mut left = left_in(&folder.path);
        left.sort_by_key(|(generation, _)| *generation);
        let generation = left.last().map_or(0, |(generation, _)| generation + 1);
        let before = left.into_iter().map(|(_, file)| file).collect();
        Ok(Self { folder, _lock: lock, current: None, before, generation })
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    /// The generation to announce next.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Announces a segment that was published in the folder, in place of the one before. The
    /// generation before stays, and so do older ones with jobs over them; the others are removed.
    ///
    /// # Errors
    ///
    /// [`DaemonError`]. Then processes still find the segment that was announced before.
    pub fn announce(&mut self, publication: Publication) -> Result<(), DaemonError> {
        self.write_keys(&Keys::lines(publication.to_env()))?;
        self.generation += 1;
        self.before.extend(self.current.replace(publication).map(Publication::outlive));
        let older = self.before.len().saturating_sub(1);
        let is_unused = |file: &&PathBuf| {
            // A job whose launcher is gone is no reason to keep the generation.
            let _ = job::sweep_beside(file);
            job::names_beside(file).is_empty()
        };
        let gone: Vec<PathBuf> =
            self.before.iter().take(older).filter(is_unused).cloned().collect();
        self.before.retain(|file| !gone.contains(file));
        // A file that cannot be removed now stays in the list, to be tried again later.
        self.before.splice(0..0, gone.into_iter().filter(|file| remove(file).is_err()));
        Ok(())
    }

    /// Replaces the file with the keys in one step.
    fn write_keys(&self, lines: &str) -> Result<(), DaemonError> {
        let written = || {
            // A daemon that was killed while it wrote has left this file.
            self.folder.remove_file(NEW_KEYS)?;
            self.folder.make_file(NEW_KEYS)?.write_all(lines.as_bytes())?;
            self.folder.replace(NEW_KEYS, KEYS)
        };
        written().map_err(|source| {
            let _ = self.folder.remove_file(NEW_KEYS);
            let file = self.folder.path.join(KEYS);
            DaemonError::Folder { file, step: "be written", source }
        })
    }

    /// Ends the service: removes the keys, all segments and the folder. Processes keep what they
    /// have adopted.
    ///
    /// # Errors
    ///
    /// [`DaemonError`] of the first file that cannot be removed. The other files are removed.
    pub fn withdraw(mut self) -> Result<(), DaemonError> {
        if self.current.is_none() {
            // Nothing was announced: processes still find the segment of an earlier daemon.
            self.give_up();
            return Ok(());
        }
        // The keys go first, so that no process looks for a removed segment.
        let _ = self.folder.remove_file(KEYS);
        let _ = self.folder.remove_file(NEW_KEYS);
        let current = self.current.take().map_or(Ok(()), Publication::unpublish);
        let removed = self.before.iter().fold(current, |first, file| first.and(remove(file)));
        let _ = job::remove_orphans(&self.folder.path, &BTreeSet::new());
        self.let_go();
        Ok(removed?)
    }

    fn let_go(&self) {
        let _ = self.folder.remove_file(LOCK);
        // This fails if other files are in the folder, which then stays.
        let _ = fs::remove_dir(&self.folder.path);
    }

    /// Ends the service, but leaves the segments to the next daemon of the folder. Processes still
    /// find them.
    pub fn leave(mut self) {
        match self.current.take() {
            Some(current) => {
                current.outlive();
                let _ = self.folder.remove_file(LOCK);
            }
            None => self.give_up(),
        }
    }

    /// Lets go of a folder in which nothing was announced. A folder that this daemon made is
    /// removed.
    fn give_up(&self) {
        match self.folder.is_made {
            true => self.let_go(),
            false => _ = self.folder.remove_file(LOCK),
        }
    }
}

/// Name of the file with the keys. Readers know it.
const KEYS: &str = "keys";
/// Name of the file with the keys while it is written.
const NEW_KEYS: &str = "keys.new";
/// Name of the file that the daemon locks.
const LOCK: &str = "lock";

/// Whether the daemon of a folder was killed: its lock file is there, and nobody has locked it.
pub fn was_killed(folder: &Path) -> bool {
    lock_of_killed(folder).is_some()
}

/// Removes what a killed daemon has left in its folder, if no segment is there any more.
pub fn clear_after_killed(folder: &Path) {
    let is_empty = left_in(folder).is_empty() && !folder.join(KEYS).exists();
    // The lock is held until all is removed, so that no new daemon takes the folder meanwhile.
    if let Some(_lock) = lock_of_killed(folder).filter(|_| is_empty) {
        let _ = fs::remove_file(folder.join(NEW_KEYS));
        let _ = fs::remove_file(folder.join(LOCK));
        let _ = fs::remove_dir(folder);
    }
}

/// The lock of a folder, locked, if a daemon has left it.
fn lock_of_killed(folder: &Path) -> Option<File> {
    let lock = File::open(folder.join(LOCK)).ok()?;
    let is_free = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    (is_free && is_at(&lock, &folder.join(LOCK))).then_some(lock)
}

/// Generation and file of each segment in a folder that an earlier daemon left: its publisher is
/// gone.
fn left_in(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_prefix(NAME_PREFIX)?;
        let segment = id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let published = status::read(&entry.path()).ok().filter(|_| segment)?;
        let gone = published.publisher == PublisherState::Gone;
        Some((published.header.ok()?.generation, entry.path())).filter(|_| gone)
    });
    found.collect()
}

/// A text that changes when the topology may have changed. If `input` is a file, the text has its
/// inode, length and time of modification. Else it has the PUs and NUMA nodes that are online, and
/// those that the cgroup of this process allows.
#[must_use]
pub fn fingerprint(input: Option<&Path>) -> String {
    if let Some(metadata) = input.and_then(|input| fs::metadata(input).ok()) {
        return format!(
            "{} {} {} {}",
            metadata.ino(),
            metadata.len(),
            metadata.mtime(),
            metadata.mtime_nsec()
        );
    }
    let online = ["cpu", "node"].map(|kind| {
        fs::read_to_string(format!("/sys/devices/system/{kind}/online")).unwrap_or_default()
    });
    let cgroup = Cgroup::of_this_process().ok().flatten();
    let cgroup = cgroup.map(|cgroup| (cgroup.cpus.to_string(), cgroup.mems.to_string()));
    format!("{online:?} {cgroup:?}")
}

/// Sends a state notification to the service manager (`sd_notify`). Does nothing if there is no
/// service manager.
///
/// # Errors
///
/// If `NOTIFY_SOCKET` names a socket that cannot be written to.
pub fn notify(state: &str) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let Some(name) = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
        return Ok(());
    };
    let bytes = name.as_encoded_bytes();
    let address = match bytes.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(&name)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}
