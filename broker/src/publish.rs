//! Publishing: one segment that every process of the node can adopt.

mod address;
mod file_id;
mod identity;
pub mod job;
pub mod legacy;
mod memfd;
mod named;
mod shm;

pub use address::Address;
pub(crate) use file_id::{FileId, id_of, is_at, remove_if};
pub use identity::PublisherState;
pub(crate) use identity::state_of;
pub use shm::FOLDER as SHM_FOLDER;

use crate::at_exit::{forget, remove_at_exit};
use legacy::{Legacy, LegacyError};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use topobroker_layout::OpenError;
use topobroker_layout::build::{self, BuildError};
use topobroker_layout::description::Description;
use topobroker_layout::header::{self, Header, Kind, VERSION_MAJOR, VERSION_MINOR};
use topobroker_reader::{Archive, Keys, Scope, Source};

/// How file names of segments begin.
pub const NAME_PREFIX: &str = "topobroker-";

/// Where a segment is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Store {
    /// POSIX shared memory: a file in `/dev/shm`.
    #[default]
    Shm,
    /// A file in a folder, such as the session folder of a launcher.
    Folder(PathBuf),
    /// A sealed memfd, which children of this process inherit and nobody can ever change.
    Memfd,
}

/// How a topology is published.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublishOptions {
    /// Where.
    pub store: Store,
    /// At which address.
    pub address: Address,
    /// Only for this user: mode 0400 instead of 0444.
    pub private: bool,
    /// Until it is unpublished, rather than as long as this process lives.
    pub keep: bool,
    /// Whose resources it describes.
    pub scope: Scope,
    /// From where it was captured.
    pub source: Source,
    /// Number of times that this node's topology was published before.
    pub generation: u64,
    /// For programs that know only hwloc or PMIx too: see [`legacy`].
    pub legacy: bool,
}

/// Why a topology is not published. Nothing of it is left behind then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The description cannot be archived.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// What is described makes no sound archive.
    #[error("the topology cannot be published: {0}")]
    Archive(#[from] OpenError),
    /// A step fails.
    #[error("{file}: cannot {step}: {source}")]
    Store {
        /// The file, or the folder that it should be in.
        file: String,
        /// What cannot be done.
        step: &'static str,
        /// Why.
        source: io::Error,
    },
    /// There is no room.
    #[error(
        "{file}: no room for {needed} bytes: {source}; free some, or publish elsewhere with another store"
    )]
    Full {
        /// The file, or the folder that it should be in.
        file: String,
        /// Bytes needed.
        needed: u64,
        /// Why.
        source: io::Error,
    },
    /// The kernel does not tell who this process is.
    #[error("{what}: {source}")]
    Identity {
        /// What was asked for.
        what: String,
        /// Why it is not known.
        source: io::Error,
    },
    /// What is for hwloc cannot be published.
    #[error(transparent)]
    Legacy(Box<LegacyError>),
    /// An address is asked for that cannot be mapped.
    #[error(
        "address {found:#x} cannot be a preferred address; expected a multiple of 0x10000 below 0x{limit:x}"
    )]
    Address {
        /// The address.
        found: u64,
        /// First address that is too high.
        limit: u64,
    },
}

/// A published segment, removed when this is dropped or the process exits (unless it was to be kept).
#[derive(Debug)]
pub struct Publication {
    keys: Keys,
    header: Header,
    placed: Placed,
    keep: bool,
    /// The process that removes it.
    owner: u32,
    legacy: Option<Legacy>,
}

/// What holds the segment.
#[derive(Debug)]
enum Placed {
    File(PathBuf),
    /// Open as long as the publication lives.
    Memfd {
        _open: rustix::fd::OwnedFd,
    },
}

/// Publishes a description.
///
/// ```
/// use topobroker::{capture::capture, hwloc::{Input, LoadOptions, load}};
/// use topobroker::publish::{PublishOptions, publish};
/// let input = Input::Synthetic("Core:2 PU:2".to_owned());
/// let description = capture(&load(&input, &LoadOptions::default())?)?;
/// let publication = publish(&description, &PublishOptions::default())?;
/// let topology = topobroker_reader::adopt_keys(publication.keys().clone())?.topology();
/// assert_eq!(topology.object_count(), 1 + 2 + 4 + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`PublishError`], with nothing left behind.
pub fn publish(
    description: &Description,
    options: &PublishOptions,
) -> Result<Publication, PublishError> {
    let archive = build::to_bytes(description)?;
    // What no reader would take is not published.
    topobroker_layout::open_archive(&archive)?;
    let header = new_header(options, header::segment_len(archive.len()) as u64)?;
    let mut segment = framed(&header, &archive)?;
    let name = format!("{NAME_PREFIX}{}", header.segment_name());
    let mode = if options.private { 0o400 } else { 0o444 };
    let (placed, store) = match &options.store {
        Store::Shm => file(shm::publish(&name, &mut segment, mode)?),
        Store::Folder(folder) => file(named::publish(folder, &name, &mut segment, mode)?),
        Store::Memfd => {
            let memfd = memfd::publish(&name, &mut segment, mode)?;
            let number = rustix::fd::AsRawFd::as_raw_fd(&memfd);
            (Placed::Memfd { _open: memfd }, topobroker_reader::Store::Descriptor(number))
        }
    };
    let keys = Keys::new(store, header.address, header.size);
    let owner = std::process::id();
    let mut publication = Publication { keys, header, placed, keep: false, owner, legacy: None };
    if !options.keep {
        // Nobody is left to tell; `unpublish --stale` finds what stays.
        remove_at_exit(publication.place(), |file| _ = remove(file));
    }
    if options.legacy {
        // If it fails, the segment goes too.
        let opened = Archive::open(&archive).map_err(LegacyError::from)?;
        let topology = opened.topology();
        publication.legacy =
            Some(legacy::publish(topology, &publication.place(), options.private)?);
    }
    publication.keep = options.keep;
    Ok(publication)
}

/// Header and archive as one segment.
fn framed(header: &Header, archive: &[u8]) -> Result<Vec<u8>, PublishError> {
    let mut segment = vec![0; header::segment_len(archive.len())];
    header.write(archive, &mut segment).map_err(|error| {
        let source = io::Error::new(io::ErrorKind::InvalidData, error);
        PublishError::Store { file: "segment".to_owned(), step: "be framed", source }
    })?;
    Ok(segment)
}

fn file(path: PathBuf) -> (Placed, topobroker_reader::Store) {
    (Placed::File(path.clone()), topobroker_reader::Store::File(path))
}

fn new_header(options: &PublishOptions, size: u64) -> Result<Header, PublishError> {
    let publisher = if options.keep { identity::Publisher::NOBODY } else { identity::publisher()? };
    Ok(Header {
        scope: options.scope,
        source: options.source,
        address: address::choose(options.address, size)?,
        size,
        generation: options.generation,
        ..header_of(publisher)?
    })
}

/// The header of a new segment of a publisher: a topology of no bytes.
fn header_of(publisher: identity::Publisher) -> Result<Header, PublishError> {
    Ok(Header {
        version: (VERSION_MAJOR, VERSION_MINOR),
        kind: Kind::Topology,
        scope: Scope::Machine,
        source: Source::ThisMachine,
        address: 0,
        size: 0,
        checksum: 0,
        segment_id: identity::random()?,
        generation: 0,
        // Of what is kept nobody asks who published it, or before which boot.
        boot_id: match publisher {
            identity::Publisher::NOBODY => identity::boot_id().unwrap_or_default(),
            _ => identity::boot_id()?,
        },
        publisher_pid: publisher.pid,
        publisher_start: publisher.start,
        pid_namespace: identity::pid_namespace(),
        created: identity::now(),
        hwloc_version: crate::hwloc::api_version(),
    })
}

impl Publication {
    /// The keys by which processes find the segment.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// What is published for hwloc beside it, if that was asked for.
    ///
    /// ```
    /// # use topobroker::{capture::capture, hwloc::{Input, LoadOptions, load}};
    /// use topobroker::publish::{PublishOptions, publish};
    /// # let machine = load(&Input::ThisMachine, &LoadOptions::default())?;
    /// let options = PublishOptions { legacy: true, ..PublishOptions::default() };
    /// let publication = publish(&capture(&machine)?, &options)?;
    /// assert!(publication.legacy().is_some());
    /// for (name, value) in publication.to_env() {
    ///     println!("{name}={}", value.display());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn legacy(&self) -> Option<&Legacy> {
        self.legacy.as_ref()
    }

    /// Name and value of each environment variable that processes are to have.
    #[must_use]
    pub fn to_env(&self) -> Vec<(&'static str, OsString)> {
        let own = self.keys.to_env().into_iter();
        own.chain(self.legacy.iter().flat_map(Legacy::to_env)).collect()
    }

    /// What its header says.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Withdraws the segment: processes that have adopted it keep it, no other finds it.
    ///
    /// # Errors
    ///
    /// When the file cannot be removed.
    pub fn unpublish(mut self) -> Result<(), PublishError> {
        self.keep = true;
        forget(&self.place());
        remove(&self.place())
    }

    /// Leaves the segment to somebody else, and returns its file.
    pub(crate) fn outlive(mut self) -> PathBuf {
        self.keep = true;
        forget(&self.place());
        self.place()
    }

    /// The file that jobs are beside; of a memfd one that is not there.
    pub(crate) fn place(&self) -> PathBuf {
        match &self.placed {
            Placed::File(path) => path.clone(),
            Placed::Memfd { .. } => job::place_of_memfd(&self.header),
        }
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        // Not the child of a fork. Nobody is left to tell; `unpublish --stale` finds what stays.
        if !self.keep && self.owner == std::process::id() {
            forget(&self.place());
            let _ = remove(&self.place());
        }
    }
}

/// Removes a topology with the jobs over it.
pub(crate) fn remove(path: &Path) -> Result<(), PublishError> {
    let removed = remove_file(path);
    // Afterwards: no job is added over a topology that is not there.
    job::remove_all(path);
    legacy::remove_beside(path);
    removed
}

pub(crate) fn remove_file(path: &Path) -> Result<(), PublishError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(PublishError::Store {
            file: path.display().to_string(),
            step: "be removed",
            source: error,
        }),
        _ => Ok(()),
    }
}

/// The error of a failed step; of a full file system, one that says so.
fn failed<'f>(
    file: &'f Path,
    step: &'static str,
    needed: usize,
) -> impl Fn(io::Error) -> PublishError + 'f {
    move |source| {
        let file = file.display().to_string();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                PublishError::Full { file, needed: needed as u64, source }
            }
            io::ErrorKind::FileTooLarge => {
                PublishError::Full { file, needed: needed as u64, source }
            }
            _ => PublishError::Store { file, step, source },
        }
    }
}
