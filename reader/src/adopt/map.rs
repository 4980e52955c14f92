//! Mapping a segment into this process.

use super::environment::var_os;
use super::error::AdoptError;
use super::open::Candidate;
use super::proc_maps;
use rustix::fd::{AsFd, AsRawFd};
use rustix::mm::{MapFlags, ProtFlags};
use topobroker_layout::encode::AlignedVec;

/// Where the segment is mapped in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// At its preferred address: a pointer into it means the same in every such process.
    Preferred,
    /// Where the kernel liked: the preferred address is taken here, or none was asked for.
    Elsewhere,
    /// Not mapped: `TOPOBROKER_COPY=1` has this process keep a copy in memory of its own.
    Copied,
}

/// How far readers map past the end of a segment. Nobody else maps a file like this, so a copy of
/// the reader knows the mapping of another one, which stays, from that of a tool that looks at the
/// file and then goes away.
const MARK: usize = 0x1_0000;

/// Environment variable that has a process copy what it would map, if it is 1: for those who must not depend
/// on the owner of a file. Reading a mapping of a file that was cut short is a SIGBUS.
const COPY: &str = "TOPOBROKER_COPY";

/// A segment in this process, for its life: no copy of the reader can know that it is the last to use a mapping, so
/// it stays also when the caller then refuses what is in it. Trying the same file again finds it there.
pub(crate) type Mapped = (&'static [u8], Placement);

/// Maps a segment read-only at its preferred address, which one thread can do once (since Linux 4.17; see `map_at`).
/// `None` where it has none, where the address is taken, perhaps by another copy of the reader, and where this process
/// keeps copies.
pub(crate) fn at_preferred(candidate: &Candidate) -> Result<Option<Mapped>, AdoptError> {
    let address = candidate.keys.address();
    if address == 0 || is_to_copy() {
        return Ok(None);
    }
    let (length, mapped) = lengths(candidate)?;
    let Some(start) =
        map_at(candidate, address, mapped).map_err(|error| failed(candidate, error))?
    else {
        return Ok(None);
    };
    candidate.check_length()?;
    Ok(Some((bytes(start, length), placement(start, address))))
}

/// Finds the mapping that another copy of the reader in this process has made of the same file, or maps it read-only
/// where the kernel likes. Two threads that are here at once may both map.
pub(crate) fn anywhere(candidate: &Candidate) -> Result<Mapped, AdoptError> {
    let mapped = map_or_copy(candidate)?;
    candidate.check_length()?;
    Ok(mapped)
}

#[cold]
fn failed(candidate: &Candidate, source: std::io::Error) -> AdoptError {
    AdoptError::Map { file: candidate.name(), source }
}

/// Bytes of the segment, and of its mapping.
fn lengths(candidate: &Candidate) -> Result<(usize, usize), AdoptError> {
    let length = usize::try_from(candidate.keys.size()).ok();
    length
        .and_then(|length| Some((length, length.checked_add(MARK)?)))
        .ok_or_else(|| failed(candidate, std::io::ErrorKind::OutOfMemory.into()))
}

fn is_to_copy() -> bool {
    var_os(COPY).is_some_and(|value| value == "1")
}

fn map_or_copy(candidate: &Candidate) -> Result<Mapped, AdoptError> {
    let failed = |error| failed(candidate, error);
    if is_to_copy() {
        // What is no segment is not worth the memory, which is never given back.
        candidate.read_header()?;
        return Ok((copy(candidate).map_err(failed)?, Placement::Copied));
    }
    let (length, mapped) = lengths(candidate)?;
    if let Some(start) = mapped_already(candidate, mapped) {
        return Ok((bytes(start, length), placement(start, candidate.keys.address())));
    }
    // SAFETY:
    // - The map is read-only and shared.
    // - Its owner is root or this user and nobody else may write the file (checked on this
    //   descriptor); publishers never write a segment again once it is ready. Against an owner who
    //   does, the memfd store is sealed; for files this is the documented trust in the owner.
    // - What is mapped past the end of the file is never touched: `bytes` ends with the segment.
    let map = unsafe { memmap2::MmapOptions::new().len(mapped).map(candidate.as_fd().as_raw_fd()) };
    let map = std::mem::ManuallyDrop::new(map.map_err(failed)?);
    Ok((bytes(map.as_ptr() as u64, length), Placement::Elsewhere))
}

/// A copy of a segment that stays for the life of the process. Its size is that of the file.
fn copy(candidate: &Candidate) -> std::io::Result<&'static [u8]> {
    let length = usize::try_from(candidate.keys.size()).unwrap_or(usize::MAX);
    let mut bytes = AlignedVec::new();
    bytes.resize(length, 0);
    let mut done = 0;
    while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match rustix::io::pread(candidate.as_fd(), rest, done as u64)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => done += read,
        }
    }
    let bytes: &'static AlignedVec = Box::leak(Box::new(bytes));
    Ok(bytes.as_slice())
}

fn placement(start: u64, address: u64) -> Placement {
    if start == address { Placement::Preferred } else { Placement::Elsewhere }
}

/// Maps at `address`; `None` when something is there already or the kernel has no such address.
///
/// Kernels before 4.17 take the address as a hint: then the mapping is where they like, and stays
/// there, because another copy of the reader may have found it by now.
fn map_at(candidate: &Candidate, address: u64, length: usize) -> std::io::Result<Option<u64>> {
    let Ok(wanted) = usize::try_from(address) else {
        return Ok(None);
    };
    let flags = MapFlags::SHARED | MapFlags::FIXED_NOREPLACE;
    // SAFETY:
    // - FIXED_NOREPLACE never replaces a mapping.
    // - The file may be mapped: see the argument in `map_or_copy`.
    let mapped = unsafe {
        rustix::mm::mmap(
            std::ptr::without_provenance_mut(wanted),
            length,
            ProtFlags::READ,
            flags,
            candidate.as_fd(),
            0,
        )
    };
    match mapped {
        Ok(start) => Ok(Some(start.expose_provenance() as u64)),
        Err(rustix::io::Errno::EXIST | rustix::io::Errno::NOMEM | rustix::io::Errno::PERM) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Where another copy of the reader has mapped the same file.
fn mapped_already(candidate: &Candidate, mapped: usize) -> Option<u64> {
    let maps = std::fs::File::open("/proc/self/maps").ok()?;
    let device = (rustix::fs::major(candidate.device), rustix::fs::minor(candidate.device));
    let pages = mapped.next_multiple_of(rustix::param::page_size()) as u64;
    proc_maps::find(maps, device, candidate.inode, pages)
}

/// The bytes of a mapping that stays for the life of the process.
fn bytes(start: u64, length: usize) -> &'static [u8] {
    // A mapping of this process starts at an address that fits.
    let start = std::ptr::with_exposed_provenance(usize::try_from(start).unwrap_or(0));
    // SAFETY:
    // - `start` is a read-only mapping of at least `length` bytes: just made, or found in this
    //   process's map with the same device and inode, from offset 0, and with a reader's mark.
    // - No copy of the reader unmaps a segment, so it lives as long as the process.
    // - Nothing writes it: see the argument in `map_or_copy`.
    unsafe { std::slice::from_raw_parts(start, length) }
}
