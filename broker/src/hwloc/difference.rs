//! hwloc's list of differences between topologies. Its functions are declared here, because the
//! bindings lack them.

use super::topology::HwlocTopology;
use hwlocality_sys::{self as sys, hwloc_const_topology_t, hwloc_topology_t};
use std::ffi::{CStr, CString, c_char, c_int, c_ulong, c_void};
use std::io;
use std::ptr;

/// The beginning of hwloc's `union hwloc_topology_diff_u`, which all of its members share.
#[repr(C)]
struct RawDifference {
    kind: c_int,
    next: *mut RawDifference,
}

/// `HWLOC_TOPOLOGY_DIFF_TOO_COMPLEX`.
const TOO_COMPLEX: c_int = 1;

/// `HWLOC_TOPOLOGY_DIFF_APPLY_REVERSE`.
const REVERSE: c_ulong = 1;

unsafe extern "C" {
    fn hwloc_topology_diff_build(
        one: hwloc_const_topology_t,
        other: hwloc_const_topology_t,
        flags: c_ulong,
        difference: *mut *mut RawDifference,
    ) -> c_int;
    fn hwloc_topology_diff_apply(
        topology: hwloc_topology_t,
        difference: *mut RawDifference,
        flags: c_ulong,
    ) -> c_int;
    fn hwloc_topology_diff_destroy(difference: *mut RawDifference) -> c_int;
    fn hwloc_topology_diff_load_xmlbuffer(
        text: *const c_char,
        length: c_int,
        difference: *mut *mut RawDifference,
        reference: *mut *mut c_char,
    ) -> c_int;
    fn hwloc_topology_diff_export_xmlbuffer(
        difference: *mut RawDifference,
        reference: *const c_char,
        text: *mut *mut c_char,
        length: *mut c_int,
    ) -> c_int;
}

/// Differences between two topologies. Counterpart: `hwloc_topology_diff_t`.
pub(super) struct Difference {
    /// hwloc's list; null if there are none.
    raw: *mut RawDifference,
}

/// Why a difference cannot be applied.
#[derive(Debug, thiserror::Error)]
#[error("difference number {number} does not fit: the topology is not what it was made for")]
pub(super) struct PatchError {
    /// Which of the differences, from 1.
    pub(super) number: u32,
}

impl Drop for Difference {
    fn drop(&mut self) {
        // SAFETY: the list is hwloc's, and is not used elsewhere.
        unsafe { hwloc_topology_diff_destroy(self.raw) };
    }
}

impl Difference {
    /// Compares two topologies that were loaded without type filters. Counterpart:
    /// `hwloc_topology_diff_build`.
    ///
    /// # Errors
    ///
    /// The error that hwloc reports.
    pub(super) fn between(one: &HwlocTopology<'_>, other: &HwlocTopology<'_>) -> io::Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: both are loaded topologies, which hwloc only reads; `raw` is an output.
        let result = unsafe { hwloc_topology_diff_build(one.raw, other.raw, 0, &raw mut raw) };
        // 1 says that some are too complex.
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { raw })
    }

    /// Reads differences from hwloc's XML. Counterpart: `hwloc_topology_diff_load_xmlbuffer`.
    ///
    /// # Errors
    ///
    /// If it is no such XML.
    pub(super) fn read(xml: &str) -> io::Result<Self> {
        let text = CString::new(xml)?;
        let length = c_int::try_from(text.as_bytes_with_nul().len())
            .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let (mut raw, mut reference) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `text` has `length` bytes with its zero; `raw` and `reference` are outputs.
        let result = unsafe {
            hwloc_topology_diff_load_xmlbuffer(
                text.as_ptr(),
                length,
                &raw mut raw,
                &raw mut reference,
            )
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: hwloc's documentation says that the caller frees the name, and nothing refers to
        // it.
        unsafe { libc::free(reference.cast::<c_void>()) };
        Ok(Self { raw })
    }

    /// Number of differences, and how many of them hwloc can only report and not write or apply.
    pub(super) fn counts(&self) -> (usize, usize) {
        let (mut all, mut complex, mut next) = (0, 0, self.raw);
        // SAFETY: `next` is null or a member of hwloc's list, which is not changed while `self` is
        // borrowed. All members begin as `RawDifference` does.
        while let Some(difference) = unsafe { next.as_ref() } {
            all += 1;
            complex += usize::from(difference.kind == TOO_COMPLEX);
            next = difference.next;
        }
        (all, complex)
    }

    /// The differences as hwloc's XML, for a topology of this name. Counterpart:
    /// `hwloc_topology_diff_export_xmlbuffer`.
    ///
    /// # Errors
    ///
    /// If one of them is too complex, or the name has a zero.
    pub(super) fn xml(&self, reference: &str) -> io::Result<String> {
        let reference = CString::new(reference)?;
        let (mut text, mut length) = (ptr::null_mut(), 0);
        // SAFETY: the list is hwloc's; `reference` has a zero at its end; the others are outputs.
        let result = unsafe {
            hwloc_topology_diff_export_xmlbuffer(
                self.raw,
                reference.as_ptr(),
                &raw mut text,
                &raw mut length,
            )
        };
        if result < 0 || text.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: hwloc has stored a text with a zero at its end.
        let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        // SAFETY: the buffer is hwloc's, which needs no topology to free it, and nothing refers to
        // it.
        unsafe { sys::hwloc_free_xmlbuffer(ptr::null(), text) };
        Ok(copy)
    }

    /// Changes a topology by the differences, or back. If one does not fit, the topology stays as
    /// it was. Counterpart: `hwloc_topology_diff_apply`.
    ///
    /// # Errors
    ///
    /// [`PatchError`].
    pub(super) fn apply(
        &self,
        topology: &mut HwlocTopology<'static>,
        reverse: bool,
    ) -> Result<(), PatchError> {
        let flags = if reverse { REVERSE } else { 0 };
        // SAFETY: the topology is loaded and exclusively borrowed; hwloc only reads the list.
        let result = unsafe { hwloc_topology_diff_apply(topology.raw, self.raw, flags) };
        match result {
            0.. => Ok(()),
            _ => Err(PatchError { number: result.unsigned_abs() }),
        }
    }
}
