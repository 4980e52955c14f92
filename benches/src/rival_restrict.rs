//! hwloc's filtered copy: a duplicate that is restricted.

use crate::rival_bitmap::Bitmap;
use hwlocality_sys::hwloc_topology_t;
use std::io;
use topobroker::hwloc::HwlocTopology;

/// A duplicate of a topology, restricted.
#[derive(Debug)]
pub struct Restricted {
    raw: hwloc_topology_t,
}

impl Restricted {
    /// Duplicates a topology and restricts the duplicate, by the sum of hwloc's flags.
    ///
    /// # Errors
    ///
    /// hwloc's error.
    pub fn new(topology: &HwlocTopology<'_>, set: &Bitmap, flags: u64) -> io::Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: an output, and a loaded topology that the call only reads.
        let error =
            unsafe { hwlocality_sys::hwloc_topology_dup(&raw mut raw, topology.as_raw().cast()) };
        if error != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut own = Self { raw };
        own.restrict(set, flags)?;
        Ok(own)
    }

    /// Restricts it further.
    ///
    /// # Errors
    ///
    /// hwloc's error; it is then as it was.
    pub fn restrict(&mut self, set: &Bitmap, flags: u64) -> io::Result<()> {
        // SAFETY: a loaded topology of our own that nobody refers to, as `self` is borrowed for
        // writing, and a set that lives as long as the call.
        let error =
            unsafe { hwlocality_sys::hwloc_topology_restrict(self.raw, set.raw().cast(), flags) };
        if error == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// The restricted topology.
    #[must_use]
    pub fn topology(&self) -> HwlocTopology<'_> {
        // SAFETY: loaded, destroyed with `self`, and only changed where `self` is borrowed for it.
        unsafe { HwlocTopology::borrow_raw(self.raw.cast()) }
    }

    /// hwloc's XML of it.
    ///
    /// # Panics
    ///
    /// If hwloc cannot export it.
    #[must_use]
    pub fn xml(&self) -> String {
        let mut buffer = std::ptr::null_mut();
        let mut length = 0;
        // SAFETY: a loaded topology and two outputs; the buffer is hwloc's until it is freed, and
        // ends with a zero that `length` counts.
        unsafe {
            let error = hwlocality_sys::hwloc_topology_export_xmlbuffer(
                self.raw,
                &raw mut buffer,
                &raw mut length,
                0,
            );
            assert_eq!(error, 0, "hwloc_topology_export_xmlbuffer");
            let text = std::ffi::CStr::from_ptr(buffer).to_string_lossy().into_owned();
            hwlocality_sys::hwloc_free_xmlbuffer(self.raw, buffer);
            text
        }
    }
}

/// Bytes of the heap of this process that are in use.
#[must_use]
pub fn heap_bytes() -> usize {
    #[repr(C)]
    struct Mallinfo {
        numbers: [usize; 10],
    }
    unsafe extern "C" {
        fn mallinfo2() -> Mallinfo;
    }
    // SAFETY: takes nothing and returns ten numbers, in use in small blocks and in mapped ones among
    // them.
    let Mallinfo { numbers: [_, _, _, _, mapped, _, _, used, ..] } = unsafe { mallinfo2() };
    mapped + used
}

impl Drop for Restricted {
    fn drop(&mut self) {
        // SAFETY: duplicated in `new`, and nothing that refers to it outlives `self`.
        unsafe { hwlocality_sys::hwloc_topology_destroy(self.raw) }
    }
}
