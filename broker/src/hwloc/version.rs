//! The version of the hwloc that this process runs with.

use crate::linux::kernel_text;
use std::ffi::CStr;
use std::fs::Metadata;
use std::sync::OnceLock;
use std::{io, ptr, slice};

/// The version of the hwloc that this library was built with.
pub const BUILT_WITH: &str = env!("TOPOBROKER_HWLOC");

/// The API version of the hwloc in this process: 0x00020900 is 2.9.0.
#[must_use]
pub fn api_version() -> u32 {
    // SAFETY: the function takes no argument and only returns a number.
    unsafe { hwlocality_sys::hwloc_get_api_version() }
}

/// The version of the hwloc library in this process, such as `2.12.0`. Several versions have one
/// API version, so that hwloc is asked for a topology, whose root says which library made it.
///
/// ```
/// assert!(topobroker::hwloc::library_version().starts_with("2."));
/// ```
#[must_use]
pub fn library_version() -> String {
    static KNOWN: OnceLock<String> = OnceLock::new();
    KNOWN.get_or_init(|| version_of_root().unwrap_or_else(|| text(api_version()))).clone()
}

fn text(api: u32) -> String {
    format!("{}.{}.{}", api >> 16, api >> 8 & 0xff, api & 0xff)
}

/// The info `hwlocVersion` of the root of a topology with one PU.
fn version_of_root() -> Option<String> {
    use hwlocality_sys as sys;
    let mut topology = ptr::null_mut();
    // SAFETY: `topology` is an output.
    if unsafe { sys::hwloc_topology_init(&raw mut topology) } != 0 {
        return None;
    }
    // SAFETY: the topology is initialised and not loaded yet, and the text ends with a zero. What
    // was loaded has a root, whose infos are texts that end with a zero and live as long as it.
    unsafe {
        let is_loaded = sys::hwloc_topology_set_synthetic(topology, c"PU:1".as_ptr()) == 0
            && sys::hwloc_topology_load(topology) == 0;
        let version = is_loaded.then(|| {
            let root = sys::hwloc_get_obj_by_depth(topology, 0, 0).as_ref()?;
            let infos = slice::from_raw_parts(root.infos, root.infos_count as usize);
            let info = infos.iter().find(|it| CStr::from_ptr(it.name) == c"hwlocVersion")?;
            Some(CStr::from_ptr(info.value).to_string_lossy().into_owned())
        });
        sys::hwloc_topology_destroy(topology);
        version.flatten()
    }
}

/// The file of the hwloc library that this process uses.
pub(crate) fn library() -> io::Result<Metadata> {
    let address = hwlocality_sys::hwloc_get_api_version as *const () as usize;
    let maps = kernel_text("/proc/self/maps")?;
    let file = maps.lines().find_map(|line| {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        let [start, end] = [start, end].map(|it| usize::from_str_radix(it, 16));
        (start.ok()?..end.ok()?).contains(&address).then(|| line.find('/').map(|at| &line[at..]))?
    });
    std::fs::metadata(file.ok_or(io::ErrorKind::NotFound)?)
}
