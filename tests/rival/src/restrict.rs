//! hwloc's counterpart of a view: a restricted duplicate of a topology.

use crate::bitmap::Bitmap;
use hwlocality_sys::hwloc_topology_t;
use std::io;
use topobroker::hwloc::HwlocTopology;

/// A restricted duplicate of a topology.
#[derive(Debug)]
pub struct Restricted {
    raw: hwloc_topology_t,
}

impl Restricted {
    /// Duplicates a topology and restricts the duplicate. `flags` is the sum of hwloc's flags.
    pub fn new(topology: &HwlocTopology<'_>, set: &Bitmap, flags: u64) -> io::Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a valid output, and the call only reads the loaded topology.
        let error =
            unsafe { hwlocality_sys::hwloc_topology_dup(&raw mut raw, topology.as_raw().cast()) };
        if error != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut own = Self { raw };
        own.restrict(set, flags)?;
        Ok(own)
    }

    /// Restricts the duplicate further.
    pub fn restrict(&mut self, set: &Bitmap, flags: u64) -> io::Result<()> {
        // SAFETY: `self` owns the loaded topology, and nothing refers to it because `self` is
        // borrowed mutably; the set outlives the call.
        let error =
            unsafe { hwlocality_sys::hwloc_topology_restrict(self.raw, set.raw().cast(), flags) };
        if error == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// The restricted topology.
    pub fn topology(&self) -> HwlocTopology<'_> {
        // SAFETY: the topology is loaded; it is not modified or destroyed while the result borrows
        // `self`.
        unsafe { HwlocTopology::borrow_raw(self.raw.cast()) }
    }
}

/// Bytes of heap that are in use in this process.
pub fn heap_bytes() -> usize {
    #[repr(C)]
    struct Mallinfo {
        numbers: [usize; 10],
    }
    unsafe extern "C" {
        fn mallinfo2() -> Mallinfo;
    }
    // SAFETY: the call takes nothing and returns ten numbers. Two of them are the bytes in use, in
    // mapped blocks and in small ones.
    let Mallinfo { numbers: [_, _, _, _, mapped, _, _, used, ..] } = unsafe { mallinfo2() };
    mapped + used
}

impl Drop for Restricted {
    fn drop(&mut self) {
        // SAFETY: `new` made this duplicate, and nothing that refers to it outlives `self`.
        unsafe { hwlocality_sys::hwloc_topology_destroy(self.raw) }
    }
}
