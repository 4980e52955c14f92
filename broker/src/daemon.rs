//! The node-wide daemon: keeps one folder in which the node's topology is published, as it is now.
//!
//! In the folder are the segment of the newest generation, the one before it (a process may have read
//! its keys just now), `keys` with the environment lines of the newest, and `lock`, which one daemon holds.

use crate::publish::{NAME_PREFIX, Publication, PublishError, remove};
use crate::status;
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use topobroker_reader::{Cgroup, Keys};

/// Why the daemon cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// Another daemon has the folder.
    #[error("{folder}: another daemon publishes here; stop it, or serve another folder")]
    Busy {
        /// The folder.
        folder: String,
    },
    /// Something with the folder fails.
    #[error("{file}: cannot {step}: {source}")]
    Folder {
        /// The file.
        file: String,
        /// What cannot be done.
        step: &'static str,
        /// Why.
        source: io::Error,
    },
    /// What was published cannot be removed.
    #[error(transparent)]
    Publish(#[from] PublishError),
}

/// The folder of a daemon, held as long as this lives.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
    current: Option<Publication>,
    before: Option<Publication>,
    generation: u64,
}

impl Folder {
    /// Takes a folder, which is made if it is not there. What an earlier daemon left in it stays until
    /// something newer is announced: its readers lose nothing.
    ///
    /// # Errors
    ///
    /// [`DaemonError::Busy`] while another daemon has it.
    pub fn take(path: &Path) -> Result<Self, DaemonError> {
        let failed = |file: &Path, step| {
            let file = file.display().to_string();
            move |source: io::Error| DaemonError::Folder { file, step, source }
        };
        let path = std::path::absolute(path).map_err(failed(path, "find the folder"))?;
        let made = DirBuilder::new().recursive(true).mode(0o755).create(&path);
        made.map_err(failed(&path, "make the folder"))?;
        let file = path.join("lock");
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = rustix::fs::open(&file, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| failed(&file, "open the lock")(error.into()))?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(DaemonError::Busy { folder: path.display().to_string() });
        }
        let headers =
            left_in(&path).into_iter().filter_map(|file| status::read(&file, 0).ok()?.header.ok());
        let generation = headers.map(|header| header.generation + 1).max().unwrap_or(0);
        Ok(Self { path, _lock: lock.into(), current: None, before: None, generation })
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Generation of what is announced next.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Tells processes of what was published in the folder, in place of what was there: `lines` are those of
    /// the `keys` file. The generation before stays, older ones and what earlier daemons left go.
    ///
    /// # Errors
    ///
    /// [`DaemonError`]; processes are told what they were told before then.
    pub fn announce(&mut self, publication: Publication, lines: &str) -> Result<(), DaemonError> {
        self.write_keys(lines)?;
        self.generation += 1;
        self.before = self.current.replace(publication);
        let kept = self.current.iter().chain(&self.before).map(Publication::place);
        let kept: Vec<PathBuf> = kept.collect();
        for file in left_in(&self.path).into_iter().filter(|file| !kept.contains(file)) {
            remove(&file)?;
        }
        Ok(())
    }

    /// Puts the keys in place in one step.
    fn write_keys(&self, lines: &str) -> Result<(), DaemonError> {
        let (file, new) = (Keys::file_in(&self.path), self.path.join("keys.new"));
        let written = || {
            // Of a daemon that was killed while it wrote.
            let _ = fs::remove_file(&new);
            let mut options = fs::OpenOptions::new();
            let mut opened = options.write(true).create_new(true).mode(0o644).open(&new)?;
            opened.write_all(lines.as_bytes())?;
            rustix::fs::fchmod(&opened, Mode::from_raw_mode(0o444))?;
            fs::rename(&new, &file)
        };
        written().map_err(|source| {
            let _ = fs::remove_file(&new);
            DaemonError::Folder { file: file.display().to_string(), step: "be written", source }
        })
    }

    /// The end: nothing stays but what processes have adopted.
    ///
    /// # Errors
    ///
    /// [`DaemonError`] of the first file that cannot be removed.
    pub fn withdraw(mut self) -> Result<(), DaemonError> {
        // First, so that nobody is sent to what is gone.
        let _ = fs::remove_file(Keys::file_in(&self.path));
        let all = [self.current.take(), self.before.take()];
        let removed = all.into_iter().flatten().map(Publication::unpublish);
        removed.fold(Ok(()), Result::and)?;
        let _ = fs::remove_file(self.path.join("lock"));
        // Only if nobody has put anything else there.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }
}

/// Files of segments in a folder.
fn left_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let segments = entries.filter(|entry| {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(NAME_PREFIX));
        id.is_some_and(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    segments.map(|entry| entry.path()).collect()
}

/// What tells that a machine has changed, as text: PUs and NUMA nodes that are online, what this process's
/// cgroup allows, and of an input that is a file which one it is.
#[must_use]
pub fn fingerprint(input: Option<&Path>) -> String {
    use std::os::unix::fs::MetadataExt;
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
