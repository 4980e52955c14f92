//! What only hwloc itself writes: XML of version 1, and synthetic descriptions with flags.

use super::topology::HwlocTopology;
use hwlocality_sys as sys;
use std::{io, ptr};

/// The topology as XML of hwloc 1. Counterpart: `hwloc_topology_export_xmlbuffer` with
/// `HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V1`.
///
/// ```
/// use topobroker::hwloc::{Input, LoadOptions, export_v1, load};
/// let core = load(&Input::Synthetic("Core:1 PU:2".to_owned()), &LoadOptions::default())?;
/// assert!(String::from_utf8(export_v1(&core)?)?.contains("<object type=\"Core\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The error that hwloc reports.
pub fn export_v1(topology: &HwlocTopology<'_>) -> io::Result<Vec<u8>> {
    const V1: std::ffi::c_ulong = 1;
    let (mut text, mut length) = (ptr::null_mut(), 0);
    // SAFETY: `topology.raw` is a loaded topology; `text` and `length` are outputs.
    let error = unsafe {
        sys::hwloc_topology_export_xmlbuffer(topology.raw, &raw mut text, &raw mut length, V1)
    };
    if error != 0 || text.is_null() {
        return Err(io::Error::last_os_error());
    }
    let length = usize::try_from(length).unwrap_or(0);
    // SAFETY: `text` is not null. hwloc made it with `length` bytes, the last of which is a zero.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let copy = bytes.strip_suffix(&[0]).unwrap_or(bytes).to_vec();
    // SAFETY: `text` is hwloc's buffer, and nothing refers to it after the copy.
    unsafe { sys::hwloc_free_xmlbuffer(topology.raw, text) };
    Ok(copy)
}

/// Exports a topology as a synthetic description with flags. Counterpart:
/// `hwloc_topology_export_synthetic`.
///
/// ```
/// use topobroker::hwloc::{Input, LoadOptions, export_synthetic, load};
/// let core = load(&Input::Synthetic("Core:1 PU:2".to_owned()), &LoadOptions::default())?;
/// const NO_ATTRIBUTES: u64 = 2;
/// assert_eq!(export_synthetic(&core, NO_ATTRIBUTES)?, "Core:1 [NUMANode] PU:2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The error that hwloc reports, as of a topology whose objects of a depth differ.
pub fn export_synthetic(topology: &HwlocTopology<'_>, flags: u64) -> io::Result<String> {
    let mut text = vec![0_u8; 1 << 16];
    // SAFETY: `topology.raw` is a loaded topology. `text` is an output of `text.len()` bytes.
    let length = unsafe {
        sys::hwloc_topology_export_synthetic(
            topology.raw,
            text.as_mut_ptr().cast(),
            text.len(),
            flags,
        )
    };
    match usize::try_from(length) {
        Err(_) => Err(io::Error::last_os_error()),
        Ok(length) if length >= text.len() => Err(io::ErrorKind::FileTooLarge.into()),
        Ok(length) => {
            text.truncate(length);
            String::from_utf8(text).map_err(|_| io::ErrorKind::InvalidData.into())
        }
    }
}
