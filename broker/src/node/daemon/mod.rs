//! The node-wide daemon: publishes the node's current topology in one folder.
//!
//! The folder has the segment of the newest generation, the one before it (because a process may
//! have just read its keys), older ones that still have jobs, `keys` with the environment lines of
//! the newest, `lock`, which the daemon locks, and `repairs` with how often it has put back files.

mod error;
mod left;
mod own_folder;
mod served;

pub use error::DaemonError;
pub use left::{clear_after_killed, is_served, looked, repairs, was_killed};

use crate::publish::{Publication, PublishOptions, is_at, job, remove};
use left::left_in;
use own_folder::{KEYS, LOCK, OWN_FILES, OwnFolder, REPAIRS};
use rustix::fs::{FlockOperation, Timespec, Timestamps};
use served::Served;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use topobroker_reader::jobs::Cgroup;

/// The folder of a daemon. No other daemon can take it as long as this lives.
#[derive(Debug)]
pub struct Folder {
    folder: OwnFolder,
    lock: File,
    current: Option<Served>,
    /// Files of earlier generations, the newest last, of this daemon and of earlier ones.
    before: Vec<PathBuf>,
    generation: u64,
    repairs: u64,
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
        if path.to_str().is_none_or(|path| path.contains('\n')) {
            return Err(DaemonError::Name { folder: path.to_owned() });
        }
        let path = std::path::absolute(path).map_err(|source| DaemonError::Folder {
            file: path.to_owned(),
            step: "find the folder",
            source,
        })?;
        let (folder, lock) = lock(&path)?;
        let mut left = left_in(&folder.path);
        left.sort_by_key(|(generation, _)| *generation);
        let generation = left.last().map_or(0, |(generation, _)| generation + 1);
        let before = left.into_iter().map(|(_, file)| file).collect();
        // The count of an earlier daemon that was killed.
        let _ = folder.remove_file(REPAIRS);
        Ok(Self { folder, lock, current: None, before, generation, repairs: 0 })
    }

    /// How often this daemon has put back files of its folder.
    #[must_use]
    pub fn repairs(&self) -> u64 {
        self.repairs
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

    /// Goes on with the segment that an earlier daemon has left ([`Folder::leave`]) if it has the
    /// same archive, mode and files for hwloc and its guard as one that would be published now. Then
    /// jobs over it go on too. Returns whether it does.
    pub fn resume(&mut self, archive: &[u8], options: &PublishOptions) -> bool {
        let Some(served) = Served::left(&self.folder.path, archive, options) else { return false };
        self.before.retain(|file| *file != served.file);
        self.current = Some(served);
        true
    }

    /// Announces a segment that was published in the folder, in place of the one before. The
    /// generation before stays, and so do older ones with jobs over them; the others are removed.
    ///
    /// # Errors
    ///
    /// [`DaemonError`]. Then processes still find the segment that was announced before.
    pub fn announce(&mut self, publication: Publication) -> Result<(), DaemonError> {
        let served = Served::new(publication);
        self.folder.write(KEYS, &served.lines)?;
        self.generation += 1;
        self.before.extend(self.current.replace(served).map(Served::outlive));
        let older = self.before.len().saturating_sub(1);
        let is_unused = |file: &&PathBuf| {
            // A job whose launcher is gone is no reason to keep the generation.
            let _ = job::sweep_jobs_of(file);
            job::names_of_jobs(file).is_empty()
        };
        let gone: Vec<PathBuf> =
            self.before.iter().take(older).filter(is_unused).cloned().collect();
        self.before.retain(|file| !gone.contains(file));
        // A file that cannot be removed now stays in the list, to be tried again later.
        self.before.splice(0..0, gone.into_iter().filter(|file| remove(file).is_err()));
        Ok(())
    }

    /// Whether the lock, the keys, the count of repairs and all files of the announced segment are
    /// those that this daemon has written. Notes for others that it has looked ([`looked`]).
    #[must_use]
    pub fn is_intact(&self) -> bool {
        let times = Timestamps { last_access: NOW, last_modification: NOW };
        let _ = rustix::fs::futimens(&self.lock, &times);
        let keys = fs::read_to_string(self.folder.path.join(KEYS)).ok();
        let is_whole = |it: &Served| keys.as_ref() == Some(&it.lines) && it.is_there();
        let counted = self.repairs == 0 || self.folder.path.join(REPAIRS).exists();
        self.is_owned() && counted && self.current.as_ref().is_some_and(is_whole)
    }

    /// Puts back what was removed or replaced: the folder, its lock and the keys. Returns
    /// whether the announced segment is gone and has to be published again.
    ///
    /// # Errors
    ///
    /// [`DaemonError`], such as that another daemon has the folder by now.
    pub fn restore(&mut self) -> Result<bool, DaemonError> {
        if !self.is_owned() {
            let path = self.folder.path.clone();
            (self.folder, self.lock) = lock(&path)?;
        }
        self.repairs += 1;
        // If it cannot be written, others read an earlier count.
        let _ = self.folder.write(REPAIRS, &self.repairs.to_string());
        match &self.current {
            Some(current) if current.is_there() => {
                self.folder.write(KEYS, &current.lines).map(|()| false)
            }
            _ => Ok(true),
        }
    }

    /// Removes jobs over the announced segment whose launcher is gone.
    pub fn sweep_jobs(&self) {
        // If a folder cannot be listed now, the next round tries again.
        let _ = self.current.as_ref().map(|current| job::sweep_jobs_of(&current.file));
    }

    /// Ends the service: removes the keys, all segments and the folder. Processes keep what they
    /// have adopted.
    ///
    /// # Errors
    ///
    /// [`DaemonError`] of the first file that cannot be removed. The other files are removed.
    pub fn withdraw(mut self) -> Result<(), DaemonError> {
        if !self.is_owned() {
            // Another daemon has the folder by now. Only what this one has published goes.
            return Ok(self.current.take().map_or(Ok(()), |served| remove(&served.outlive()))?);
        }
        if self.current.is_none() {
            // Nothing was announced: processes still find the segment of an earlier daemon.
            self.give_up();
            return Ok(());
        }
        // The keys go first, so that no process looks for a removed segment.
        let _ = self.folder.remove_file(KEYS);
        let current = self.current.take().map_or(Ok(()), |served| remove(&served.outlive()));
        let removed = self.before.iter().fold(current, |first, file| first.and(remove(file)));
        let _ = job::remove_orphans(&self.folder.path, &BTreeSet::new());
        self.let_go();
        Ok(removed?)
    }

    /// Whether this daemon has the lock that is in the folder.
    fn is_owned(&self) -> bool {
        is_at(&self.lock, &self.folder.path.join(LOCK))
    }

    fn let_go(&self) {
        self.unlock();
        // This fails if other files are in the folder, which then stays.
        let _ = fs::remove_dir(&self.folder.path);
    }

    fn unlock(&self) {
        OWN_FILES.iter().for_each(|name| _ = self.folder.remove_file(name));
    }

    /// Ends the service, but leaves the segments to the next daemon of the folder. Processes still
    /// find them.
    pub fn leave(mut self) {
        match self.current.take() {
            Some(current) => {
                current.outlive();
                if self.is_owned() {
                    self.unlock();
                }
            }
            None => self.give_up(),
        }
    }

    /// Lets go of a folder in which nothing was announced. A folder that this daemon made is
    /// removed.
    fn give_up(&self) {
        match self.folder.is_made {
            true => self.let_go(),
            false => self.unlock(),
        }
    }
}

/// The time of now, for `futimens`.
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };

/// Opens a folder, and takes its lock.
fn lock(path: &Path) -> Result<(OwnFolder, File), DaemonError> {
    /// Who asks whether a daemon runs has the lock for a moment.
    const TRIES: u32 = 20;
    let mut tries = 0;
    loop {
        let folder = OwnFolder::open(path)?;
        let file = folder.path.join(LOCK);
        let lock = folder.open_file(LOCK).map_err(|source| DaemonError::Folder {
            file: file.clone(),
            step: "open the lock",
            source,
        })?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            tries += 1;
            if tries == TRIES {
                return Err(DaemonError::Busy { folder: folder.path });
            }
            std::thread::sleep(Duration::from_millis(10));
            continue;
        }
        // Try again if another daemon has just removed the lock file.
        if is_at(&lock, &file) {
            return Ok((folder, lock));
        }
    }
}

/// A text that changes when the topology may have changed. If `input` is a file, the text has its
/// inode, length and time of modification. Otherwise it has the PUs and NUMA nodes that are online,
/// and those that the cgroup of this process allows.
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
