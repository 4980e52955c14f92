//! hwloc's own shared segment. Counterparts: `hwloc/shmem.h`, which the bindings leave out.

use anyhow::{Context, ensure};
use hwlocality_sys::{
    hwloc_bitmap_t, hwloc_const_bitmap_t, hwloc_const_topology_t, hwloc_topology_t,
};
use rustix::fd::{AsRawFd, BorrowedFd};
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_ushort, c_void};
use std::fs::File;
use topobroker::hwloc::{Input, LoadOptions, Topology, load};
use topobroker_layout::set::Format;

unsafe extern "C" {
    fn hwloc_pci_class_string(class_id: c_ushort) -> *const c_char;
    fn hwloc_bitmap_set_ith_ulong(bitmap: hwloc_bitmap_t, i: c_uint, word: c_ulong) -> c_int;
    fn hwloc_bitmap_set_range(bitmap: hwloc_bitmap_t, begin: c_uint, end: c_int) -> c_int;
    fn hwloc_bitmap_snprintf(buffer: *mut c_char, length: usize, b: hwloc_const_bitmap_t) -> c_int;
    fn hwloc_bitmap_list_snprintf(
        buffer: *mut c_char,
        length: usize,
        b: hwloc_const_bitmap_t,
    ) -> c_int;
    fn hwloc_bitmap_taskset_snprintf(
        buffer: *mut c_char,
        length: usize,
        b: hwloc_const_bitmap_t,
    ) -> c_int;
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

/// An address that none of the processes here uses.
pub const ADDRESS: usize = 0x7a00_0000_0000;

/// Bytes of hwloc's segment for a topology.
///
/// # Errors
///
/// hwloc's error.
pub fn length(topology: &Topology<'_>) -> anyhow::Result<usize> {
    let mut length = 0;
    // SAFETY: a loaded topology and an output.
    let error =
        unsafe { hwloc_shmem_topology_get_length(topology.as_raw().cast(), &raw mut length, 0) };
    ensure!(error == 0, "hwloc_shmem_topology_get_length: {}", std::io::Error::last_os_error());
    Ok(length)
}

/// Writes hwloc's segment into an empty file.
///
/// # Errors
///
/// hwloc's error.
pub fn write(topology: &Topology<'_>, file: &File, length: usize) -> anyhow::Result<()> {
    let address = std::ptr::without_provenance_mut(ADDRESS);
    // SAFETY: a loaded topology, a writable file, and an address range that is free here.
    let error = unsafe {
        hwloc_shmem_topology_write(
            topology.as_raw().cast(),
            file.as_raw_fd(),
            0,
            address,
            length,
            0,
        )
    };
    ensure!(error == 0, "hwloc_shmem_topology_write: {}", std::io::Error::last_os_error());
    Ok(())
}

/// Adopts hwloc's segment and leaves it adopted. Returns its number of PUs.
///
/// # Errors
///
/// hwloc's error.
pub fn adopt(file: BorrowedFd<'_>, length: usize) -> anyhow::Result<usize> {
    let mut topology = std::ptr::null_mut();
    let address = std::ptr::without_provenance_mut(ADDRESS);
    // SAFETY: an output, a readable file that `write` filled, and the address it was written for.
    let error = unsafe {
        hwloc_shmem_topology_adopt(&raw mut topology, file.as_raw_fd(), 0, address, length, 0)
    };
    ensure!(error == 0, "hwloc_shmem_topology_adopt: {}", std::io::Error::last_os_error());
    Ok(pus(topology))
}

/// Loads a topology as programs do today and keeps it. Returns its number of PUs.
///
/// # Errors
///
/// hwloc's error.
pub fn load_and_keep(input: &Input) -> anyhow::Result<usize> {
    let topology = load(input, &LoadOptions::default()).context("hwloc")?;
    let count = pus(topology.as_raw().cast());
    std::mem::forget(topology);
    Ok(count)
}

fn pus(topology: hwloc_const_topology_t) -> usize {
    // SAFETY: a loaded topology.
    let count = unsafe {
        let depth = hwlocality_sys::hwloc_topology_get_depth(topology);
        hwlocality_sys::hwloc_get_nbobjs_by_depth(topology, depth - 1)
    };
    count as usize
}

/// What hwloc calls a PCI class.
#[must_use]
pub fn pci_class_name(class_id: u16) -> String {
    // SAFETY: returns a constant string for any number.
    let name = unsafe { CStr::from_ptr(hwloc_pci_class_string(class_id)) };
    name.to_string_lossy().into_owned()
}

/// How hwloc prints a set given by its words, with all indexes behind them if it is infinite.
///
/// # Panics
///
/// If there is no memory for it.
#[must_use]
pub fn set_text(words: &[u64], infinite: bool, format: Format) -> String {
    let print = match format {
        Format::List => hwloc_bitmap_list_snprintf,
        Format::Taskset => hwloc_bitmap_taskset_snprintf,
        _ => hwloc_bitmap_snprintf,
    };
    let mut text = vec![0u8; 64 + 256 * (words.len() + 1)];
    // SAFETY: a bitmap of our own, freed below; the buffer is longer than any text that hwloc
    // makes of so many words.
    unsafe {
        let bitmap = hwlocality_sys::hwloc_bitmap_alloc();
        assert!(!bitmap.is_null(), "a bitmap");
        for (i, word) in (0..).zip(words) {
            hwloc_bitmap_set_ith_ulong(bitmap, i, *word);
        }
        if infinite {
            hwloc_bitmap_set_range(bitmap, u32::try_from(words.len()).unwrap_or(0) * 64, -1);
        }
        print(text.as_mut_ptr().cast(), text.len(), bitmap);
        hwlocality_sys::hwloc_bitmap_free(bitmap);
    }
    CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy().into_owned()
}
