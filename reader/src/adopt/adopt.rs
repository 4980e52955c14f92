//! Adoption: once per process, behind one global.

use super::error::AdoptError;
use super::gate::Gate;
use super::keys::Keys;
use super::map::{self, Mapped, Placement};
use super::once::Global;
use super::open::Candidate;
use crate::archive::Archive;
use crate::topology::Topology;
use std::io::ErrorKind;
use topobroker_layout::header::Header;

/// The topology of this process, with what is known of its segment.
#[derive(Debug)]
pub struct Adopted {
    archive: Archive<'static>,
    header: Header,
    keys: Keys,
    placement: Placement,
    bytes: &'static [u8],
}

static ADOPTED: Global<Adopted> = Global::new();
/// One thread at a time looks for a mapping and makes one where the kernel likes.
static GATE: Gate = Gate::new();

/// Adopts the segment that this process was handed: by its environment, its PMIx server or the node's
/// daemon, as [`Keys::find`] finds them.
///
/// The first call maps and checks it; every later call, from any thread or library, returns the
/// same reference. Children of a fork have it too. Counterparts: `PMIx_Load_topology`,
/// `hwloc_shmem_topology_adopt`.
///
/// # Errors
///
/// [`AdoptError`]; a failed adoption can be tried again.
#[doc(alias = "hwloc_shmem_topology_adopt")]
pub fn adopt() -> Result<&'static Adopted, AdoptError> {
    match adopted() {
        // It was found elsewhere, and there may be nothing, or something newer, by now. Keys in the
        // environment are another matter: they may name another segment, which is a mistake.
        Some(adopted) if !Keys::is_in_env() => Ok(adopted),
        _ => adopt_newest(),
    }
}

/// Keys may name a file that is not there: a container has its environment from outside and a `/dev/shm` of its own, and
/// a process that is held up between finding keys and opening the file may find that the daemon, which keeps two
/// generations, has removed it. Then there may be other keys.
fn adopt_newest() -> Result<&'static Adopted, AdoptError> {
    /// More than there are places with keys, and than a daemon removes meanwhile: it must end.
    const MOST: usize = 8;
    let mut result = adopt_keys(Keys::find()?);
    for _ in 0..MOST {
        let other = match &result {
            Err(AdoptError::Open { file, source }) if source.kind() == ErrorKind::NotFound => {
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

/// Adopts the segment that `keys` names: as [`adopt`], with keys that came another way.
///
/// # Errors
///
/// As [`adopt`]; [`AdoptError::Different`] when this process has another segment already.
pub fn adopt_keys(keys: Keys) -> Result<&'static Adopted, AdoptError> {
    // Whatever became of the file since.
    if let Some(adopted) = adopted()
        && adopted.keys == keys
    {
        return Ok(adopted);
    }
    let candidate = Candidate::open(keys)?;
    if let Some(adopted) = adopted() {
        return same_as(adopted, &candidate);
    }
    match map::at_preferred(&candidate)? {
        Some(mapped) => keep(candidate, mapped),
        None => adopt_in_turn(candidate),
    }
}

/// An address is mapped once, whoever comes at the same time; elsewhere two threads would both map.
#[cold]
#[inline(never)]
fn adopt_in_turn(candidate: Candidate) -> Result<&'static Adopted, AdoptError> {
    let _turn = GATE.enter();
    if let Some(adopted) = adopted() {
        return same_as(adopted, &candidate);
    }
    let mapped = map::anywhere(&candidate)?;
    keep(candidate, mapped)
}

/// What is adopted, if the candidate is that, by what its header says.
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

/// Keeps what is mapped, if it is sound, for the life of the process. Whoever comes second keeps the first's.
fn keep(candidate: Candidate, mapped: Mapped) -> Result<&'static Adopted, AdoptError> {
    ADOPTED
        .offer(check(candidate, mapped)?)
        .or_else(|(mine, adopted)| same_segment(adopted, &mine.header, &mine.keys))
}

/// Checks what is mapped from the first byte to the last.
fn check(candidate: Candidate, (bytes, placement): Mapped) -> Result<Adopted, AdoptError> {
    let opened = topobroker_layout::open(bytes);
    let (header, archive) = opened.map_err(|error| candidate.refused(error))?;
    check_address(&header, &candidate.keys)?;
    let archive = Archive::checked(archive);
    Ok(Adopted { archive, header, keys: candidate.keys, placement, bytes })
}

/// Whether the address that processes were told is that which the segment was made for.
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
    /// The topology, of what [`adopt`] returns for the life of the process.
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

    /// The keys that led here.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Where it is mapped.
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The mapped segment, header and archive.
    #[must_use]
    pub fn bytes(&self) -> &'static [u8] {
        self.bytes
    }
}
