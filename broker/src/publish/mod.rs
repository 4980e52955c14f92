//! Publishing: segments that every process of the node can adopt, jobs over them, and files for
//! programs that know only hwloc or PMIx.
//!
//! ```no_run
//! use topobroker::hwloc::{Input, LoadOptions, capture, load};
//! use topobroker::publish::{PublishOptions, publish};
//! let machine = capture(&load(&Input::ThisMachine, &LoadOptions::default())?)?;
//! let published = publish(&machine, &PublishOptions::default())?;
//! let mut rank = std::process::Command::new("./app");
//! rank.envs(published.to_env()).status()?; // `./app` adopts it
//! published.unpublish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
#[allow(unsafe_code, reason = "registers a function with the C library")]
mod at_exit;
mod error;
pub(crate) mod found;
mod header;
pub mod job;
pub mod legacy;
mod options;
mod publisher;
mod remove;
pub mod slots;
mod store;
mod sweep;

pub use address::Address;
pub(crate) use at_exit::remove_at_exit;
pub use error::{LegacyError, PublishError};
pub(crate) use header::{framed, header_of};
pub(crate) use options::mode;
pub use options::{NAME_PREFIX, PublishOptions, Store};
pub(crate) use publisher::Publisher;
pub use publisher::{PublisherState, boot_id, now, random, state_of};
pub(crate) use remove::{remove, remove_file};
pub(crate) use store::file_id::{FileId, id_of, is_at};
pub(crate) use store::memfd::{memfds, processes};
pub(crate) use store::named;
pub use store::shm::FOLDER as SHM_FOLDER;
pub(crate) use sweep::{DAEMON_LOCK, kept};
pub use sweep::{Whose, YOUNG, sweep};

use at_exit::forget;
use legacy::Legacy;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use store::{memfd, shm};
use topobroker_layout::RULES;
use topobroker_layout::description::Description;
use topobroker_layout::encode;
use topobroker_layout::header::{Header, segment_len};
use topobroker_reader::{Archive, FileKey, Keys, Topology};

/// A published segment. It is removed when this is dropped or the process exits, except with
/// [`PublishOptions::keep`].
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
    /// A descriptor that stays open as long as the publication lives.
    Memfd {
        _open: rustix::fd::OwnedFd,
    },
}

/// Publishes a description. Before that it removes from shared memory, and from the folder that it
/// publishes in, what publishers and launchers of this user have left that were killed: see
/// [`sweep`].
///
/// ```
/// use topobroker::hwloc::{Input, LoadOptions, capture, load};
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
    let archive = encode::to_bytes(description)?;
    // An archive that readers would refuse is not published. They do not check again what is
    // checked here.
    topobroker_layout::open_archive(&archive)?;
    let header = new_header(options, segment_len(archive.len()) as u64)?;
    let header = Header { certificate: RULES, ..header };
    sweep(Path::new(SHM_FOLDER), Whose::Own);
    if let Store::Folder(folder) = &options.store
        && !folder.join(DAEMON_LOCK).exists()
    {
        // The folder of a daemon is that daemon's business.
        sweep(folder, Whose::Own);
    }
    let mut segment = framed(&header, &archive)?;
    let name = format!("{NAME_PREFIX}{}", header.segment_name());
    let mode = mode(options.private);
    let (placed, store) = match &options.store {
        Store::Shm => file(shm::publish(&name, &mut segment, mode)?),
        Store::Folder(folder) => file(named::publish(&folder.join(name), &mut segment, mode)?),
        Store::Memfd => {
            let memfd = memfd::publish(&name, &mut segment, mode)?;
            let number = rustix::fd::AsRawFd::as_raw_fd(&memfd);
            (Placed::Memfd { _open: memfd }, FileKey::Descriptor(number))
        }
    };
    let keys = Keys::new(store, header.address, header.size);
    let owner = std::process::id();
    let mut publication = Publication { keys, header, placed, keep: false, owner, legacy: None };
    if !options.keep {
        // An error at exit cannot be reported; whoever publishes next removes what stays.
        remove_at_exit(publication.place(), |file| _ = remove(file));
    }
    if options.legacy || options.guard {
        // An error here drops `publication`, which removes the segment too.
        let opened = Archive::open(&archive).map_err(LegacyError::from)?;
        publish_for_hwloc(&mut publication, opened.topology(), options)?;
    }
    publication.keep = options.keep;
    Ok(publication)
}

/// Publishes what is for programs that know only hwloc.
fn publish_for_hwloc(
    publication: &mut Publication,
    topology: Topology<'_>,
    options: &PublishOptions,
) -> Result<(), LegacyError> {
    let place = publication.place();
    if options.legacy {
        publication.legacy = Some(legacy::publish(topology, &place, options.private)?);
    }
    let is_file = matches!(publication.placed, Placed::File(_));
    match (topology.is_this_system(), is_file) {
        (true, true) => slots::publish(&place, options, &publication.to_env()),
        (false, _) if options.guard => Err(LegacyError::OtherMachine),
        (true, false) if options.guard => Err(LegacyError::Memfd),
        _ => Ok(()),
    }
}

fn file(path: PathBuf) -> (Placed, FileKey) {
    (Placed::File(path.clone()), FileKey::Path(path.into()))
}

fn new_header(options: &PublishOptions, size: u64) -> Result<Header, PublishError> {
    let who = match options.publisher {
        _ if options.keep => Publisher::NONE,
        Some(other) => publisher::process(other)?,
        None => publisher::publisher()?,
    };
    Ok(Header {
        scope: options.scope,
        source: options.source,
        address: address::choose(options.address, size)?,
        size,
        generation: options.generation,
        ..header_of(who)?
    })
}

impl Publication {
    /// The keys by which processes find the segment.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The files for hwloc next to it, if they were asked for.
    ///
    /// ```
    /// # use topobroker::hwloc::{Input, LoadOptions, capture, load};
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

    /// Name and value of each environment variable that processes need.
    #[must_use]
    pub fn to_env(&self) -> Vec<(&'static str, OsString)> {
        let own = self.keys.to_env().into_iter();
        own.chain(self.legacy.iter().flat_map(Legacy::to_env)).collect()
    }

    /// The header of the segment.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Withdraws the segment. Processes that have adopted it keep it; no other process finds it.
    ///
    /// # Errors
    ///
    /// [`PublishError::Store`] if the file cannot be removed.
    pub fn unpublish(mut self) -> Result<(), PublishError> {
        self.keep = true;
        forget(&self.place());
        remove(&self.place())
    }

    /// Leaves the removal of the segment to another process, and returns the file.
    pub(crate) fn outlive(mut self) -> PathBuf {
        self.keep = true;
        forget(&self.place());
        self.place()
    }

    /// The path that jobs and files for hwloc are next to. A memfd has such a path, but no file
    /// with it.
    pub fn place(&self) -> PathBuf {
        match &self.placed {
            Placed::File(path) => path.clone(),
            Placed::Memfd { .. } => job::place_of_memfd(&self.header),
        }
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        // A forked child removes nothing. An error cannot be reported here; whoever publishes next
        // removes what stays.
        if !self.keep && self.owner == std::process::id() {
            forget(&self.place());
            let _ = remove(&self.place());
        }
    }
}
