//! The folder of a daemon: taking it, announcing generations, and leaving it.

use super::error::DaemonError;
use super::own_folder::OwnFolder;
use crate::node::status::{self, PublisherState};
use crate::publish::job;
use crate::publish::{NAME_PREFIX, Publication, is_at, remove};
use rustix::fs::FlockOperation;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use topobroker_reader::{Cgroup, Keys};

/// The folder of a daemon, held as long as this lives.
#[derive(Debug)]
pub struct Folder {
    folder: OwnFolder,
    _lock: File,
    current: Option<Publication>,
    /// Files of earlier generations, the newest last: of this daemon and of those before it.
    before: Vec<PathBuf>,
    generation: u64,
}

impl Folder {
    /// Takes a folder, which is made if it is not there. What an earlier daemon left in it stays until
    /// something newer is announced, and the newest of it once more: its readers lose nothing.
    ///
    /// # Errors
    ///
    /// [`DaemonError::Busy`] while another daemon has it.
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
            // Another daemon may have withdrawn it just then.
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

    /// Generation of what is announced next.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Tells processes of what was published in the folder, in place of what was there. The generation
    /// before stays, and older ones with jobs over them; the others go.
    ///
    /// # Errors
    ///
    /// [`DaemonError`]; processes are told what they were told before then.
    pub fn announce(&mut self, publication: Publication) -> Result<(), DaemonError> {
        self.write_keys(&Keys::lines(publication.to_env()))?;
        self.generation += 1;
        self.before.extend(self.current.replace(publication).map(Publication::outlive));
        let older = self.before.len().saturating_sub(1);
        let is_unused = |file: &&PathBuf| {
            // Jobs whose launcher is gone keep nothing.
            let _ = job::sweep_beside(file);
            !job::has_jobs(file)
        };
        let gone: Vec<PathBuf> =
            self.before.iter().take(older).filter(is_unused).cloned().collect();
        self.before.retain(|file| !gone.contains(file));
        // One that cannot be removed now is looked at when the folder is withdrawn.
        self.before.splice(0..0, gone.into_iter().filter(|file| remove(file).is_err()));
        Ok(())
    }

    /// Puts the keys in place in one step.
    fn write_keys(&self, lines: &str) -> Result<(), DaemonError> {
        let written = || {
            // Of a daemon that was killed while it wrote.
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

    /// The end: nothing stays but what processes have adopted.
    ///
    /// # Errors
    ///
    /// [`DaemonError`] of the first file that cannot be removed; the others are.
    pub fn withdraw(mut self) -> Result<(), DaemonError> {
        if self.current.is_none() {
            // Nothing was announced: what an earlier daemon has left is still what processes find.
            self.give_up();
            return Ok(());
        }
        // First, so that nobody is sent to what is gone.
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
        // Only if nothing else is there.
        let _ = fs::remove_dir(&self.folder.path);
    }

    /// The end of this process, with what it has published left to the next daemon of the folder: processes go on
    /// finding it.
    pub fn leave(mut self) {
        match self.current.take() {
            Some(current) => {
                current.outlive();
                let _ = self.folder.remove_file(LOCK);
            }
            None => self.give_up(),
        }
    }

    /// The end of what has not begun.
    fn give_up(&self) {
        match self.folder.is_made {
            true => self.let_go(),
            false => _ = self.folder.remove_file(LOCK),
        }
    }
}

/// The file with the keys, as readers know it.
const KEYS: &str = "keys";
/// What the keys are written into before they are put in place.
const NEW_KEYS: &str = "keys.new";
/// The file whose lock one daemon holds.
const LOCK: &str = "lock";

/// Generation and file of segments in a folder whose publisher is gone: an earlier daemon's.
fn left_in(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_prefix(NAME_PREFIX)?;
        let segment = id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let published = status::read(&entry.path(), 0).ok().filter(|_| segment)?;
        let gone = published.publisher == PublisherState::Gone;
        Some((published.header.ok()?.generation, entry.path())).filter(|_| gone)
    });
    found.collect()
}

/// What tells that a machine has changed, as text: PUs and NUMA nodes that are online, what this process's
/// cgroup allows, and of an input that is a file which one it is.
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

/// Tells the service manager how it goes, as `sd_notify`: nothing if there is none.
///
/// # Errors
///
/// When `NOTIFY_SOCKET` names a socket that cannot be written to.
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
