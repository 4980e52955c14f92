//! Mapping a segment into this process.

use super::error::AdoptError;
use super::meeting::{self, Guest};
use super::open::{Candidate, is_to_copy};
use alloc::boxed::Box;
use rustix::fd::AsFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use topobroker_layout::encode::AlignedVec;
use topobroker_process::{FileError, auxiliary};

/// Where the segment is mapped in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// At its preferred address: a pointer into it is the same in every such process.
    Preferred,
    /// At an address that the kernel chose: the preferred one is taken in this process, or the keys
    /// have none.
    Elsewhere,
    /// Not mapped: because of `TOPOBROKER_COPY=1`, this process has a copy in its own memory.
    Copied,
}

/// Bytes that readers map past the end of a segment. No other program maps a file like this. So a
/// copy of the reader can distinguish a mapping of another copy, which stays, from that of a tool,
/// which may go away.
const MARK: usize = 0x1_0000;

/// A segment in this process. It stays for the life of the process, even if the caller then refuses
/// its contents, because no copy of the reader can know that it is the last to use a mapping. If
/// the same file is tried again, the mapping is found.
pub(crate) type Mapped = (&'static [u8], Placement);

/// Maps a segment read-only at its preferred address. Since Linux 4.17 only one thread can do this
/// (see [`map_once_at`]). `None` if the segment has no preferred address, if the address is taken,
/// perhaps by another copy of the reader, or if this process keeps copies.
pub(crate) fn at_preferred(candidate: &Candidate) -> Result<Option<Mapped>, AdoptError> {
    let address = candidate.keys.address();
    if address == 0 || is_to_copy() {
        return Ok(None);
    }
    let (length, mapped) = lengths(candidate)?;
    let Some(start) =
        map_once_at(candidate, address, mapped).map_err(|error| failed(candidate, error.into()))?
    else {
        return Ok(None);
    };
    candidate.check_length()?;
    Ok(Some((bytes(start, length), placement(start, address))))
}

/// Maps a segment read-only at one of the addresses where copies of the reader meet, or finds the
/// mapping that another copy in this process has made of the same file. If all these addresses are
/// taken, the kernel chooses one; then two threads that call this at once may both map. With
/// `TOPOBROKER_COPY=1`, copies the segment instead.
pub(crate) fn anywhere(candidate: &Candidate, guest: Guest) -> Result<Mapped, AdoptError> {
    let mapped = if is_to_copy() {
        // A file that is not a segment is refused first, because the memory of a copy is never
        // freed.
        candidate.read_header()?;
        (copy(candidate).map_err(|error| failed(candidate, error))?, Placement::Copied)
    } else {
        let (length, mapped) = lengths(candidate)?;
        let start = meet_or_map(candidate, guest, mapped)
            .map_err(|error| failed(candidate, error.into()))?;
        (bytes(start, length), placement(start, candidate.keys.address()))
    };
    candidate.check_length()?;
    Ok(mapped)
}

/// Maps a part of a file read-only, where the kernel chooses. With `TOPOBROKER_COPY=1`, copies it
/// instead. A part that is not in the file has no bytes.
pub(crate) fn map_part(
    candidate: &Candidate,
    at: u64,
    len: u64,
) -> Result<&'static [u8], AdoptError> {
    let is_inside = at.checked_add(len).is_some_and(|end| end <= candidate.keys.size());
    let (true, Ok(length)) = (is_inside && len > 0, usize::try_from(len)) else { return Ok(&[]) };
    if is_to_copy() {
        return copy_part(candidate, at, length).map_err(|error| failed(candidate, error));
    }
    // Pages may be longer than what parts start at a multiple of.
    let first = at - at % auxiliary(libc::AT_PAGESZ).max(1);
    let before = usize::try_from(at - first).unwrap_or(0);
    let mapped = map_from(candidate, 0, length + before, first);
    let start = mapped
        .and_then(|start| start.ok_or(Errno::NOMEM))
        .map_err(|error| failed(candidate, error.into()))?;
    candidate.check_length()?;
    Ok(bytes(start, length + before).get(before..).unwrap_or_default())
}

#[cold]
fn failed(candidate: &Candidate, source: FileError) -> AdoptError {
    AdoptError::Map { file: candidate.name(), source }
}

/// Length of the segment, and of its mapping, in bytes.
fn lengths(candidate: &Candidate) -> Result<(usize, usize), AdoptError> {
    let length = usize::try_from(candidate.keys.size()).ok();
    length
        .and_then(|length| Some((length, length.checked_add(MARK)?)))
        .ok_or_else(|| failed(candidate, FileError::AddressSpace))
}

/// Address at which a segment is mapped, by this call or by an earlier one.
fn meet_or_map(candidate: &Candidate, guest: Guest, length: usize) -> rustix::io::Result<u64> {
    // A segment with an address may be there already, mapped by another copy of the reader.
    let mut taken = candidate.keys.address() != 0;
    for point in meeting::points(guest, length as u64) {
        if taken && let Some(start) = mapped_already(candidate, length, None) {
            return Ok(start);
        }
        if let Some(start) = map_once_at(candidate, point, length)? {
            return Ok(start);
        }
        taken = true;
    }
    match mapped_already(candidate, length, None) {
        Some(start) => Ok(start),
        None => map_at(candidate, 0, length)?.ok_or(Errno::NOMEM),
    }
}

/// Copies a segment into memory that stays for the life of the process. The file has the size of
/// the keys, as `Candidate::open` has checked.
fn copy(candidate: &Candidate) -> Result<&'static [u8], FileError> {
    copy_part(candidate, 0, usize::try_from(candidate.keys.size()).unwrap_or(usize::MAX))
}

fn copy_part(candidate: &Candidate, at: u64, length: usize) -> Result<&'static [u8], FileError> {
    let mut bytes = AlignedVec::new();
    bytes.resize(length, 0);
    candidate.read_at(at, &mut bytes)?;
    let bytes: &'static AlignedVec = Box::leak(Box::new(bytes));
    Ok(bytes.as_slice())
}

fn placement(start: u64, address: u64) -> Placement {
    if start == address { Placement::Preferred } else { Placement::Elsewhere }
}

/// Maps at `address`; `None` if something is mapped there already or the kernel refuses the
/// address.
///
/// Kernels before 4.17 and valgrind take the address as a hint and may map elsewhere. That mapping
/// stays, because another copy of the reader may have found it by now. But if there is an earlier
/// mapping of another copy, that one is used.
fn map_once_at(
    candidate: &Candidate,
    address: u64,
    length: usize,
) -> rustix::io::Result<Option<u64>> {
    let start = map_at(candidate, address, length)?;
    let elsewhere = start.filter(|start| *start != address);
    Ok(elsewhere.and_then(|own| mapped_already(candidate, length, Some(own))).or(start))
}

/// Maps at `address`, or where the kernel chooses if that is 0 or only a hint; `None` if something
/// is mapped there already or the kernel refuses the address.
fn map_at(candidate: &Candidate, address: u64, length: usize) -> rustix::io::Result<Option<u64>> {
    map_from(candidate, address, length, 0)
}

/// [`map_at`] of the part of the file that starts at `offset`, a multiple of the length of a page.
fn map_from(
    candidate: &Candidate,
    address: u64,
    length: usize,
    offset: u64,
) -> rustix::io::Result<Option<u64>> {
    let Ok(wanted) = usize::try_from(address) else {
        return Ok(None);
    };
    let flags = match address {
        0 => MapFlags::SHARED,
        _ => MapFlags::SHARED | MapFlags::FIXED_NOREPLACE,
    };
    // SAFETY:
    // - The mapping is new: FIXED_NOREPLACE never replaces one, nor does an address that is only a
    //   hint, nor the kernel's choice.
    // - It is read-only. The owner of the file is trusted, no other user may write it (checked on
    //   this descriptor), and publishers never write a segment that is ready.
    let mapped = unsafe {
        rustix::mm::mmap(
            core::ptr::without_provenance_mut(wanted),
            length,
            ProtFlags::READ,
            flags,
            candidate.as_fd(),
            offset,
        )
    };
    match mapped {
        Ok(start) => Ok(Some(start.expose_provenance() as u64)),
        Err(error @ (Errno::EXIST | Errno::NOMEM | Errno::PERM | Errno::INVAL)) if address != 0 => {
            if address == candidate.keys.address() {
                candidate.address_error.set(Some(error));
            }
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Address at which another copy of the reader has mapped the same file. The mapping at `own` is
/// not another's.
fn mapped_already(candidate: &Candidate, mapped: usize, own: Option<u64>) -> Option<u64> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let maps = rustix::fs::open("/proc/self/maps", flags, Mode::empty()).ok()?;
    let device = (rustix::fs::major(candidate.device), rustix::fs::minor(candidate.device));
    let pages = (mapped as u64).checked_next_multiple_of(auxiliary(libc::AT_PAGESZ).max(1))?;
    let others =
        topobroker_process::mappings(maps).filter(|mapping| Some(mapping.range.start) != own);
    topobroker_process::find_mapping(others, device, candidate.inode, pages)
}

/// The bytes of a mapping that stays for the life of the process.
fn bytes(start: u64, length: usize) -> &'static [u8] {
    // The conversion cannot fail, because an address of this process fits into a `usize`.
    let start = core::ptr::with_exposed_provenance(usize::try_from(start).unwrap_or(0));
    // SAFETY:
    // - `start` is a read-only mapping of at least `length` bytes of a file that ends behind them.
    //   It was just made, of the whole file or of a part of it; or found in the map of this
    //   process, as one of the whole file: with the same device and inode, from offset 0, and with
    //   a reader's mark.
    // - No copy of the reader unmaps a segment, so it lives as long as the process.
    // - Nothing writes it: the owner of the file is trusted, no other user may write it, and
    //   publishers never write a segment that is ready.
    unsafe { core::slice::from_raw_parts(start, length) }
}
