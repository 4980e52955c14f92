//! Adoption, once per process: finds the keys, checks that their file can be trusted, maps the
//! segment, checks it, and keeps it in a global.

#[allow(unsafe_code, reason = "borrowing a descriptor by its number is what this module is for")]
mod descriptor;
mod discover;
mod error;
mod file_key;
mod keys;
#[allow(unsafe_code, reason = "mapping a file is what this module is for")]
mod map;
mod meeting;
mod open;
mod other_segment;
#[allow(unsafe_code, reason = "calling the libpmix of the process is what this module is for")]
mod pmix_client;

pub use error::{AdoptError, KeysError};
pub use file_key::FileKey;
pub use keys::Keys;
pub use map::Placement;
pub(crate) use map::map_part;
pub(crate) use open::Candidate;
pub(crate) use other_segment::{candidate, other_segment};
pub use pmix_client::{pmix_keys, pmix_value};

use crate::archive::Archive;
use crate::topology::Topology;
use map::Mapped;
use meeting::Guest;
use rustix::io::Errno;
use topobroker_layout::header::{Header, MAX_SEGMENT_LEN};
use topobroker_process::{Gate, Global, OsError};

/// The adopted topology of this process, with the header, keys and placement of its segment.
#[derive(Debug)]
pub struct Adopted {
    archive: Archive<'static>,
    header: Header,
    keys: Keys,
    placement: Placement,
    address_error: Option<OsError>,
    bytes: &'static [u8],
}

static ADOPTED: Global<Adopted> = Global::new();
/// Lets one thread at a time look for a mapping, and make one at an address that the kernel
/// chooses.
static GATE: Gate = Gate::new();

/// Adopts the segment of this process. [`Keys::find`] finds its keys in the environment, in PMIx,
/// or in the folder of the node's daemon.
///
/// The first call maps and checks it. Every later call, from any thread or library, returns the
/// same reference. A forked child has it too. Counterparts: `PMIx_Load_topology`,
/// `hwloc_shmem_topology_adopt`.
///
/// # Errors
///
/// [`AdoptError`]. A failed adoption can be tried again.
#[doc(alias = "hwloc_shmem_topology_adopt")]
pub fn adopt() -> Result<&'static Adopted, AdoptError> {
    match adopted() {
        // Keys outside the environment are not read again: they may be gone or newer by now. Keys
        // in the environment are read again, because it is a mistake if they name another segment.
        Some(adopted) if !Keys::is_in_env() => Ok(adopted),
        _ => adopt_newest(),
    }
}

/// Adopts by the keys of [`Keys::find`]. If their file does not exist, tries the keys of the other
/// sources. A container may inherit its environment from outside but have its own `/dev/shm`. And
/// if a process is held up between reading keys and opening the file, the daemon, which keeps two
/// generations, may have removed the file.
fn adopt_newest() -> Result<&'static Adopted, AdoptError> {
    /// Limit of attempts, so that the loop ends. It is more than the number of sources and of
    /// generations that a daemon removes meanwhile.
    const MOST: usize = 8;
    let mut result = adopt_keys(Keys::find()?);
    for _ in 0..MOST {
        let other = match &result {
            Err(AdoptError::Open { file, source }) if source.is(Errno::NOENT) => {
                Keys::elsewhere(Some(file))
            }
            _ => break,
        };
        let Ok(Some(other)) = other else { break };
        result = adopt_keys(other);
    }
    result
}

/// The topology that this process has adopted, if it has. One atomic load.
#[must_use]
pub fn adopted() -> Option<&'static Adopted> {
    ADOPTED.get()
}

/// Adopts the segment of `keys`. Unlike [`adopt`], it does not look for keys.
///
/// # Errors
///
/// [`AdoptError`]; [`AdoptError::Different`] if this process has adopted another segment already.
pub fn adopt_keys(keys: Keys) -> Result<&'static Adopted, AdoptError> {
    // Not opened again: the file may be gone, but the mapping stays.
    if let Some(adopted) = adopted()
        && adopted.keys == keys
    {
        return Ok(adopted);
    }
    let candidate = Candidate::open(keys, MAX_SEGMENT_LEN)?;
    if let Some(adopted) = adopted() {
        return same_as(adopted, &candidate);
    }
    match map::at_preferred(&candidate)? {
        Some(mapped) => keep(candidate, mapped),
        None => adopt_in_turn(candidate),
    }
}

/// Adopts at an address that the kernel chooses, one thread at a time. Two threads at once cannot
/// both map the preferred address, but elsewhere both would map.
#[inline(never)]
fn adopt_in_turn(candidate: Candidate) -> Result<&'static Adopted, AdoptError> {
    let _turn = GATE.enter();
    if let Some(adopted) = adopted() {
        return same_as(adopted, &candidate);
    }
    let mapped = map::anywhere(&candidate, Guest::Topology)?;
    keep(candidate, mapped)
}

/// Returns the adopted segment if the header of the candidate says that it is the same one.
#[cold]
#[inline(never)]
fn same_as(
    adopted: &'static Adopted,
    candidate: &Candidate,
) -> Result<&'static Adopted, AdoptError> {
    let header = candidate.read_header()?;
    check_address(&header, &candidate.keys)?;
    same_segment(adopted, &header, &candidate.keys)
}

/// Checks a mapped segment and keeps it for the life of the process. If another thread was first,
/// its segment is kept instead.
fn keep(candidate: Candidate, mapped: Mapped) -> Result<&'static Adopted, AdoptError> {
    ADOPTED
        .offer(check(candidate, mapped)?)
        .or_else(|(mine, adopted)| same_segment(adopted, &mine.header, &mine.keys))
}

/// Checks every byte of a mapped segment, and the rules that its publisher has not checked.
fn check(candidate: Candidate, (bytes, placement): Mapped) -> Result<Adopted, AdoptError> {
    let opened = candidate.open_segment(bytes);
    let (header, archive) = opened.map_err(|error| candidate.refused(error))?;
    check_address(&header, &candidate.keys)?;
    let address_error = candidate.address_error.get().map(OsError::from);
    Ok(Adopted { archive, header, keys: candidate.keys, placement, address_error, bytes })
}

/// Checks that the address key is 0 or the preferred address of the segment.
fn check_address(header: &Header, keys: &Keys) -> Result<(), AdoptError> {
    if keys.address() == 0 || keys.address() == header.address {
        return Ok(());
    }
    let (found, expected) = (header.address, keys.address());
    Err(AdoptError::Address { file: keys.file_key().clone(), found, expected })
}

fn same_segment(
    adopted: &'static Adopted,
    header: &Header,
    keys: &Keys,
) -> Result<&'static Adopted, AdoptError> {
    if adopted.header.segment_id == header.segment_id {
        return Ok(adopted);
    }
    Err(AdoptError::Different {
        file: keys.file_key().clone(),
        found: header.segment_name(),
        adopted: adopted.header.segment_name(),
        adopted_file: adopted.keys.file_key().clone(),
    })
}

impl Adopted {
    /// The topology. If this is the reference that [`adopt`] returns, it lives as long as the
    /// process.
    #[must_use]
    pub fn topology(&self) -> Topology<'_> {
        self.archive.topology()
    }

    /// The archive of the topology.
    #[must_use]
    pub fn archive(&self) -> &Archive<'static> {
        &self.archive
    }

    /// Header of the segment: who published what, when and how.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The keys by which this process found the segment.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Where the segment is mapped.
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// Why the kernel did not map the segment at its preferred address: `EEXIST` if something else
    /// is there, `ENOMEM`, `EPERM` or `EINVAL` if it is no address for this process. `None` if it
    /// was not asked to, or did not refuse.
    #[must_use]
    pub fn address_error(&self) -> Option<OsError> {
        self.address_error
    }

    /// Checks all rules of the archive, also those that the publisher has checked. Programs that
    /// must not depend on the publisher can set the environment variable `TOPOBROKER_CHECK=1`
    /// instead, so that every adoption does it.
    ///
    /// # Errors
    ///
    /// [`AdoptError::Segment`], with the rule that does not hold.
    pub fn check(&self) -> Result<(), AdoptError> {
        let opened = topobroker_layout::open(self.bytes);
        let file = || self.keys.file_key().clone();
        opened.map(drop).map_err(|source| AdoptError::Segment { file: file(), source })
    }

    /// The mapped segment, header and archive.
    #[must_use]
    pub fn bytes(&self) -> &'static [u8] {
        self.bytes
    }
}
