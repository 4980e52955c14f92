//! hwloc's own shared segment. Its functions are declared here, because the bindings lack them.

use crate::child::locking;
use crate::hwloc::topology::HwlocTopology;
use hwlocality_sys::{hwloc_const_topology_t, hwloc_topology_t};
use rustix::fd::{AsFd, AsRawFd};
use std::ffi::{c_int, c_ulong, c_void};
use std::fs::File;
use std::io;
use topobroker_process::mappings;

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

/// An hwloc topology, adopted or loaded, that stays valid until the process ends.
#[derive(Debug)]
pub struct AdoptedHwloc(hwloc_topology_t);

// SAFETY: the type only hands out its pointer. hwloc documents its queries as safe to call from
// any thread on a topology that is not modified.
unsafe impl Send for AdoptedHwloc {}
// SAFETY: a shared reference only gives a copy of the pointer. hwloc documents its queries as safe
// to call from several threads at once on a topology that is not modified.
unsafe impl Sync for AdoptedHwloc {}

impl AdoptedHwloc {
    /// The raw `hwloc_topology_t`. Any thread may read it; it may not be modified or destroyed.
    ///
    /// hwloc's memory-attribute functions write into their topology and crash on an adopted one
    /// (2.9.0): call them on a duplicate.
    #[must_use]
    pub fn as_raw(&self) -> *mut c_void {
        self.0.cast()
    }

    /// Takes over a topology that this process loaded, because it could not adopt one.
    #[must_use]
    pub fn from_loaded(topology: HwlocTopology<'static>) -> Self {
        let topology = std::mem::ManuallyDrop::new(topology);
        Self(topology.raw)
    }
}

impl HwlocTopology<'_> {
    /// Copies the topology if it is in read-only memory, as an adopted one is. hwloc's
    /// memory-attribute functions write into their topology and crash on an adopted one (seen with
    /// 2.9.0).
    pub(crate) fn copy_if_adopted(&self) -> Option<HwlocTopology<'static>> {
        let root = self.root()?.key();
        let mut mapped = mappings(File::open("/proc/self/maps").ok()?);
        let mapping = mapped.find(|mapping| mapping.range.contains(&(root as u64)))?;
        if mapping.permissions.contains(&b'w') {
            return None;
        }
        let mut copy = std::ptr::null_mut();
        // SAFETY: `self.raw` is a loaded topology, which hwloc only reads here; `copy` is an
        // output.
        let error =
            locking(|| unsafe { hwlocality_sys::hwloc_topology_dup(&raw mut copy, self.raw) });
        (error == 0).then(|| HwlocTopology::owned(copy))
    }
}

/// The length in bytes of hwloc's segment for a topology. Counterpart:
/// `hwloc_shmem_topology_get_length`.
///
/// # Errors
///
/// The error that hwloc reports.
#[doc(alias = "hwloc_shmem_topology_get_length")]
pub fn shmem_length(topology: &HwlocTopology<'_>) -> io::Result<usize> {
    let mut length = 0;
    // SAFETY: `topology.raw` is a loaded topology, and `length` is an output.
    let error = unsafe { hwloc_shmem_topology_get_length(topology.raw, &raw mut length, 0) };
    if error == 0 { Ok(length) } else { Err(io::Error::last_os_error()) }
}

/// Writes hwloc's segment for a topology into a file that is long enough. Other processes map it
/// at `address`, which must be free in this process too. Counterpart: `hwloc_shmem_topology_write`.
///
/// # Errors
///
/// The error that hwloc reports: `EBUSY` if the address is not free in this process.
#[doc(alias = "hwloc_shmem_topology_write")]
pub fn write_shmem(
    topology: &HwlocTopology<'_>,
    file: &File,
    address: usize,
    length: usize,
) -> io::Result<()> {
    let (fd, address) = (file.as_fd().as_raw_fd(), std::ptr::without_provenance_mut(address));
    // SAFETY: `topology.raw` is a loaded topology, and `fd` is an open file. hwloc maps the range
    // without replacing other mappings, and unmaps it again.
    let error = unsafe { hwloc_shmem_topology_write(topology.raw, fd, 0, address, length, 0) };
    if error == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Adopts hwloc's segment. Counterpart: `hwloc_shmem_topology_adopt`.
///
/// # Errors
///
/// The error that hwloc reports: `EBUSY` if the address is taken, for example by an earlier
/// adoption; `EINVAL` if the file is not such a segment, is of another version of hwloc, or was
/// written for another address.
///
/// # Safety
///
/// hwloc believes the topology in the segment, so no user whom this process does not trust may have
/// written the file, or be able to change it as long as the process lives.
#[doc(alias = "hwloc_shmem_topology_adopt")]
pub unsafe fn adopt_shmem(file: &File, address: usize, length: usize) -> io::Result<AdoptedHwloc> {
    let mut topology = std::ptr::null_mut();
    let (fd, address) = (file.as_fd().as_raw_fd(), std::ptr::without_provenance_mut(address));
    // SAFETY: `topology` is an output, and `fd` is an open file. hwloc checks the header and maps
    // the range without replacing other mappings. It does not check the topology in the segment,
    // which the caller of this function vouches for.
    let error = unsafe { hwloc_shmem_topology_adopt(&raw mut topology, fd, 0, address, length, 0) };
    if error == 0 { Ok(AdoptedHwloc(topology)) } else { Err(io::Error::last_os_error()) }
}
