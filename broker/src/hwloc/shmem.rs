//! hwloc's own shared segment: its header is not in the bindings.

use crate::hwloc::topology::HwlocTopology;
use hwlocality_sys::{hwloc_const_topology_t, hwloc_topology_t};
use rustix::fd::{AsFd, AsRawFd};
use std::ffi::{c_int, c_ulong, c_void};
use std::fs::File;
use std::io;
use topobroker_reader::internal::mappings;

unsafe extern "C" {
    fn hwloc_shmem_topology_get_length(
        topology: hwloc_const_topology_t,
        length: *mut usize,
        flags: c_ulong,
    ) -> c_int;
    fn hwloc_shmem_topology_write(
        topology: hwloc_const_topology_t,
        fd: c_int,
        offset: u64,
        address: *mut c_void,
        length: usize,
        flags: c_ulong,
    ) -> c_int;
    fn hwloc_shmem_topology_adopt(
        topology: *mut hwloc_topology_t,
        fd: c_int,
        offset: u64,
        address: *mut c_void,
        length: usize,
        flags: c_ulong,
    ) -> c_int;
}

/// A topology of hwloc that this process has adopted, for the rest of its life.
#[derive(Debug)]
pub struct AdoptedHwloc(hwloc_topology_t);

// SAFETY: only a pointer is handed out here; hwloc documents its queries as safe to call from several
// threads on a topology that nobody modifies.
unsafe impl Send for AdoptedHwloc {}
// SAFETY: as above.
unsafe impl Sync for AdoptedHwloc {}

impl AdoptedHwloc {
    /// The raw `hwloc_topology_t`: to be read, by any thread, and neither modified nor destroyed. hwloc's
    /// functions of memory attributes modify it, and crash (2.9.0): ask them of a duplicate.
    #[must_use]
    pub fn as_raw(&self) -> *mut c_void {
        self.0.cast()
    }

    /// Takes over a topology that was loaded here, where adopting is not possible.
    #[must_use]
    pub fn from_loaded(topology: HwlocTopology<'static>) -> Self {
        let topology = std::mem::ManuallyDrop::new(topology);
        Self(topology.raw)
    }
}

impl HwlocTopology<'_> {
    /// A copy of a topology that is in read-only memory: hwloc's functions of memory attributes write
    /// into the topology that they are asked of, and crash if it was adopted (seen with 2.9.0).
    pub(crate) fn copy_if_adopted(&self) -> Option<HwlocTopology<'static>> {
        let root = self.root()?.key();
        let mut mapped = mappings(File::open("/proc/self/maps").ok()?);
        let mapping = mapped.find(|mapping| mapping.range.contains(&(root as u64)))?;
        if mapping.permissions.contains(&b'w') {
            return None;
        }
        let mut copy = std::ptr::null_mut();
        // SAFETY: a loaded topology, which is only read, and an output.
        let error = unsafe { hwlocality_sys::hwloc_topology_dup(&raw mut copy, self.raw) };
        (error == 0).then(|| HwlocTopology::owned(copy))
    }
}

/// Bytes of hwloc's segment for a topology. Counterpart: `hwloc_shmem_topology_get_length`.
///
/// # Errors
///
/// hwloc's.
#[doc(alias = "hwloc_shmem_topology_get_length")]
pub fn shmem_length(topology: &HwlocTopology<'_>) -> io::Result<usize> {
    let mut length = 0;
    // SAFETY: a loaded topology and an output.
    let error = unsafe { hwloc_shmem_topology_get_length(topology.raw, &raw mut length, 0) };
    if error == 0 { Ok(length) } else { Err(io::Error::last_os_error()) }
}

/// Writes hwloc's segment into a file with room for it, to be mapped at an address that must be free
/// in this process too. Counterpart: `hwloc_shmem_topology_write`.
///
/// # Errors
///
/// hwloc's: `EBUSY` when the address is not free here.
#[doc(alias = "hwloc_shmem_topology_write")]
pub fn write_shmem(
    topology: &HwlocTopology<'_>,
    file: &File,
    address: usize,
    length: usize,
) -> io::Result<()> {
    let (fd, address) = (file.as_fd().as_raw_fd(), std::ptr::without_provenance_mut(address));
    // SAFETY: a loaded topology and a writable file; hwloc maps the range without replacing what is
    // there, and unmaps it again.
    let error = unsafe { hwloc_shmem_topology_write(topology.raw, fd, 0, address, length, 0) };
    if error == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Adopts hwloc's segment. Counterpart: `hwloc_shmem_topology_adopt`.
///
/// # Errors
///
/// hwloc's: `EBUSY` when the address is taken, which it is by an earlier adoption too; `EINVAL` when
/// the file is no such segment, of another version of hwloc, or written for another address.
#[doc(alias = "hwloc_shmem_topology_adopt")]
pub fn adopt_shmem(file: &File, address: usize, length: usize) -> io::Result<AdoptedHwloc> {
    let mut topology = std::ptr::null_mut();
    let (fd, address) = (file.as_fd().as_raw_fd(), std::ptr::without_provenance_mut(address));
    // SAFETY: an output and a readable file; hwloc checks its header and maps the range without
    // replacing what is there. That its bytes are a sound topology is the trust in their owner,
    // whom the caller has checked.
    let error = unsafe { hwloc_shmem_topology_adopt(&raw mut topology, fd, 0, address, length, 0) };
    if error == 0 { Ok(AdoptedHwloc(topology)) } else { Err(io::Error::last_os_error()) }
}
