//! hwloc's segments, each mapped once.

use crate::call::{errno, set_errno};
use crate::hwloc::{Hwloc, Topology};
use alloc::vec::Vec;
use core::ffi::{c_int, c_ulong, c_void};
use core::ops::Range;
use core::ptr;

/// `hwloc_shmem_topology_adopt`.
pub(crate) type Adopt =
    unsafe extern "C" fn(*mut Topology, c_int, u64, *mut c_void, usize, c_ulong) -> c_int;

/// Where a segment is: in a file, and at which address.
#[derive(Clone, Copy)]
pub(crate) struct Where {
    pub(crate) file: c_int,
    pub(crate) offset: u64,
    pub(crate) address: *mut c_void,
    pub(crate) length: usize,
}

/// A mapped segment. What a process writes to it, it writes to a copy of that page.
pub(crate) struct Segment {
    device: u64,
    inode: u64,
    offset: u64,
    address: *mut c_void,
    length: usize,
    /// Where the hwloc library is mapped that has adopted it: structures differ between versions.
    hwloc: usize,
    /// The topology that hwloc itself made of it. The program never gets it.
    pub(crate) master: Topology,
    /// Size in bytes of that structure.
    pub(crate) size: usize,
    /// Place in it of the length that hwloc unmaps when the topology is destroyed.
    pub(crate) length_at: usize,
    /// Whether programs may remember objects of it that belong to no handle any more.
    pub(crate) is_pinned: bool,
}

/// What hwloc has made of a segment.
pub(crate) enum Mapped {
    /// One that can be shared.
    Shared(usize),
    /// A topology of an hwloc that the guard does not understand.
    Plain(Topology),
}

impl Segment {
    fn range(&self) -> Range<usize> {
        let start = self.address.addr();
        start..start.saturating_add(self.length)
    }

    /// Gives back the pages that were written, if no topology is in it.
    pub(crate) fn rest(&self) {
        // SAFETY: the range is mapped, from a file. No code has a pointer into it whose object
        // differs from what is in the file.
        unsafe { libc::madvise(self.address, self.length, libc::MADV_DONTNEED) };
    }
}

/// The segments of this process. They stay mapped as long as the program does not need their
/// addresses, and are used again. One that is unmapped has length 0.
pub(crate) struct Segments {
    all: Vec<Segment>,
    /// Address ranges for which this process has written a segment.
    reserved: Vec<Range<usize>>,
}

impl Segments {
    pub(crate) const NONE: Self = Self { all: Vec::new(), reserved: Vec::new() };

    pub(crate) fn get(&self, number: usize) -> Option<&Segment> {
        self.all.get(number)
    }

    /// Keeps a segment as it is, even if no handle is on it: programs may remember objects of it.
    pub(crate) fn pin(&mut self, number: usize) {
        if let Some(segment) = self.all.get_mut(number) {
            segment.is_pinned = true;
        }
    }

    /// The segment that contains an address.
    pub(crate) fn around(&self, address: *const c_void) -> Option<usize> {
        self.all.iter().position(|it| it.range().contains(&address.addr()))
    }

    /// The segment in a file, which is mapped now or was mapped earlier. `None`, with hwloc's
    /// `errno`, if hwloc cannot adopt it.
    ///
    /// # Safety
    ///
    /// hwloc believes what is in the file, and `adopt` must be its function.
    pub(crate) unsafe fn map(
        &mut self,
        hwloc: &Hwloc,
        adopt: Adopt,
        place: Where,
        has_handle: impl Fn(usize) -> bool,
    ) -> Option<Mapped> {
        let (device, inode) = identity(place.file)?;
        let Where { file, offset, address, length } = place;
        // The mapping holds the inode, so that no other file has it.
        let known = self.all.iter().position(|it| {
            (it.device, it.inode, it.offset) == (device, inode, offset)
                && (it.address, it.length, it.hwloc) == (address, length, hwloc.base)
        });
        if let Some(known) = known {
            return Some(Mapped::Shared(known));
        }
        self.make_room(address, length, has_handle);
        let mut master = ptr::null_mut();
        // SAFETY: the caller vouches for the function and for the file.
        if unsafe { adopt(&raw mut master, file, offset, address, length, 0) } != 0 {
            return None;
        }
        // SAFETY: hwloc has made the structure with malloc.
        let size = unsafe { libc::malloc_usable_size(master) };
        let Some(length_at) = place_of_length(master, size, address, length) else {
            return Some(Mapped::Plain(master));
        };
        if !make_writable(place) {
            return Some(Mapped::Plain(master));
        }
        self.all.push(Segment {
            device,
            inode,
            offset,
            address,
            length,
            hwloc: hwloc.base,
            master,
            size,
            length_at,
            is_pinned: false,
        });
        Some(Mapped::Shared(self.all.len() - 1))
    }

    /// Keeps addresses for a segment that other processes are to map, if they are free.
    pub(crate) fn reserve(&mut self, address: *mut c_void, length: usize) {
        const KIND: c_int = libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_NORESERVE
            | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: nothing that is mapped is replaced.
        let reserved = unsafe { libc::mmap(address, length, libc::PROT_NONE, KIND, -1, 0) };
        if reserved == address {
            self.reserved.push(address.addr()..address.addr().saturating_add(length));
        } else if reserved != libc::MAP_FAILED {
            // A kernel before 4.17 takes the address as a wish.
            // SAFETY: it was mapped just now, and no other code knows of it.
            unsafe { libc::munmap(reserved, length) };
        }
    }

    /// Gives up addresses that another segment needs: reserved ones, and those of segments that no
    /// handle is on. hwloc would have unmapped these.
    pub(crate) fn make_room(
        &mut self,
        address: *mut c_void,
        length: usize,
        has_handle: impl Fn(usize) -> bool,
    ) {
        let needed = address.addr()..address.addr().saturating_add(length);
        for (number, segment) in self.all.iter_mut().enumerate() {
            let range = segment.range();
            let overlaps = range.start < needed.end && needed.start < range.end;
            if overlaps && !segment.is_pinned && !has_handle(number) {
                // SAFETY: no topology is in it. hwloc's own structure is never used again: its
                // library may be unloaded by now, so it is not destroyed.
                unsafe { libc::munmap(segment.address, segment.length) };
                segment.length = 0;
            }
        }
        self.reserved.retain(|range| {
            let is_needed = range.start < needed.end && needed.start < range.end;
            if is_needed {
                let start = ptr::without_provenance_mut(range.start);
                // SAFETY: the guard has reserved the range, and no other code knows of it.
                unsafe { libc::munmap(start, range.len()) };
            }
            !is_needed
        });
    }
}

/// Device and inode of an open file; `None`, with `errno`, if it is not open.
fn identity(file: c_int) -> Option<(u64, u64)> {
    // SAFETY: all bytes of the structure may be zero.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: `stat` is a valid output; a number that is no open file is an error.
    (unsafe { libc::fstat(file, &raw mut stat) } == 0).then_some((stat.st_dev, stat.st_ino))
}

/// Place of the length of a mapping in hwloc's structure: behind its address. `None` if the
/// structure has no such place.
fn place_of_length(
    topology: Topology,
    size: usize,
    address: *mut c_void,
    length: usize,
) -> Option<usize> {
    const WORD: usize = size_of::<usize>();
    let expected = [address.addr(), length];
    let words = (0..size / WORD - 1).map(|word| word * WORD);
    words.map(|at| at + WORD).find(|at| {
        // SAFETY: the structure has `size` bytes, and both words are inside.
        let found = unsafe { topology.byte_add(at - WORD).cast::<[usize; 2]>().read() };
        found == expected
    })
}

/// Maps a segment that hwloc has mapped again, so that writing copies a page. Programs may write to
/// objects, and hwloc's functions for memory attributes do (2.9.0).
fn make_writable(place: Where) -> bool {
    const ACCESS: c_int = libc::PROT_READ | libc::PROT_WRITE;
    const KIND: c_int = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let Where { file, offset, address, length } = place;
    let Ok(offset) = libc::off_t::try_from(offset) else { return false };
    let before = errno();
    // SAFETY: hwloc has just mapped the same bytes at this address, and no code has used them yet
    // except for hwloc's structure, which does not change.
    let mapped = unsafe { libc::mmap(address, length, ACCESS, KIND, file, offset) };
    set_errno(before);
    mapped == address
}
