//! hwloc's own ways to get a topology: its shared segment, a restricted duplicate of that, loading.

pub mod bitmap;
pub mod queries;
pub mod restrict;

use crate::bitmap::Bitmap;
use crate::restrict::Restricted;
use anyhow::Context;
use hwlocality_sys::{
    hwloc_bitmap_t, hwloc_const_bitmap_t, hwloc_const_topology_t, hwloc_free_xmlbuffer,
    hwloc_topology_export_xmlbuffer,
};
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_ushort};
use std::fs::File;
use topobroker::hwloc::{
    HwlocTopology, Input, LoadOptions, adopt_shmem, load, shmem_length, write_shmem,
};
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
}

/// An address that no process here uses.
pub const ADDRESS: usize = 0x7a00_0000_0000;

/// Length of hwloc's segment for a topology, in bytes.
pub fn length(topology: &HwlocTopology<'_>) -> anyhow::Result<usize> {
    shmem_length(topology).context("hwloc_shmem_topology_get_length")
}

/// Writes hwloc's segment into an empty file.
pub fn write(topology: &HwlocTopology<'_>, file: &File, length: usize) -> anyhow::Result<()> {
    write_shmem(topology, file, ADDRESS, length).context("hwloc_shmem_topology_write")
}

/// The topology as XML, written by hwloc.
pub fn xml(topology: &HwlocTopology<'_>) -> anyhow::Result<String> {
    let (mut text, mut length) = (std::ptr::null_mut(), 0);
    // SAFETY: the topology is loaded and both outputs are valid. hwloc writes a text that ends with
    // a zero, which is copied before hwloc frees it.
    unsafe {
        let raw = topology.as_raw().cast();
        let error = hwloc_topology_export_xmlbuffer(raw, &raw mut text, &raw mut length, 0);
        anyhow::ensure!(error == 0, "hwloc_topology_export_xmlbuffer");
        let xml = CStr::from_ptr(text).to_string_lossy().into_owned();
        hwloc_free_xmlbuffer(raw, text);
        Ok(xml)
    }
}

/// Adopts hwloc's segment in a file, for the rest of this process.
pub fn adopt(file: &str) -> anyhow::Result<HwlocTopology<'static>> {
    let opened = File::open(file).context("open")?;
    let length = usize::try_from(opened.metadata()?.len())?;
    // SAFETY: a benchmark has written the file, in a folder of its own.
    let adopted = unsafe { adopt_shmem(&opened, ADDRESS, length) };
    let adopted = adopted.context("hwloc_shmem_topology_adopt")?;
    // SAFETY: the topology was just adopted; nothing destroys or modifies it in this process.
    Ok(unsafe { HwlocTopology::borrow_raw(adopted.as_raw()) })
}

/// Adopts hwloc's segment in a file, and restricts a duplicate to the first half of the PUs. Keeps
/// both. Returns the number of PUs of the duplicate.
pub fn adopt_half(file: &str) -> anyhow::Result<usize> {
    let whole = adopt(file)?;
    let half = (0..u32::try_from(count_pus(&whole) / 2)?).collect();
    let half = Restricted::new(&whole, &Bitmap::new(&half), REMOVE_CPULESS).context("half")?;
    let count = count_pus(&half.topology());
    std::mem::forget(half);
    Ok(count)
}

/// `HWLOC_RESTRICT_FLAG_REMOVE_CPULESS`.
const REMOVE_CPULESS: u64 = 1;

/// Loads a topology as programs do today and keeps it. Returns its number of PUs.
pub fn load_and_keep(input: &Input) -> anyhow::Result<usize> {
    let topology = load(input, &LoadOptions::default()).context("hwloc")?;
    let count = count_pus(&topology);
    std::mem::forget(topology);
    Ok(count)
}

/// Number of PUs of a topology.
pub fn count_pus(topology: &HwlocTopology<'_>) -> usize {
    let topology: hwloc_const_topology_t = topology.as_raw().cast();
    // SAFETY: an `HwlocTopology` is loaded, and both calls only read it.
    let count = unsafe {
        let depth = hwlocality_sys::hwloc_topology_get_depth(topology);
        hwlocality_sys::hwloc_get_nbobjs_by_depth(topology, depth - 1)
    };
    count as usize
}

/// hwloc's name of a PCI class.
pub fn pci_class_name(class_id: u16) -> String {
    // SAFETY: the call returns a constant string for any number.
    let name = unsafe { CStr::from_ptr(hwloc_pci_class_string(class_id)) };
    name.to_string_lossy().into_owned()
}

/// hwloc's text of a set that is given by its words. An infinite set also has all indexes after
/// them.
pub fn set_text(words: &[u64], infinite: bool, format: Format) -> String {
    let print = match format {
        Format::List => hwloc_bitmap_list_snprintf,
        Format::Taskset => hwloc_bitmap_taskset_snprintf,
        _ => hwloc_bitmap_snprintf,
    };
    let mut text = vec![0u8; 64 + 256 * (words.len() + 1)];
    // SAFETY: this block allocates and frees the bitmap; the buffer is longer than any text that
    // hwloc makes of so many words.
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
