//! The version of the hwloc that this process runs with.

use std::fs::Metadata;
use std::io;

/// The API version of the hwloc in this process: 0x00020900 is 2.9.0.
#[must_use]
pub fn api_version() -> u32 {
    // SAFETY: the function takes no argument and only returns a number.
    unsafe { hwlocality_sys::hwloc_get_api_version() }
}

/// The file of the hwloc library that this process uses.
pub(crate) fn library() -> io::Result<Metadata> {
    let address = hwlocality_sys::hwloc_get_api_version as *const () as usize;
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let file = maps.lines().find_map(|line| {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        let [start, end] = [start, end].map(|it| usize::from_str_radix(it, 16));
        (start.ok()?..end.ok()?).contains(&address).then(|| line.find('/').map(|at| &line[at..]))?
    });
    std::fs::metadata(file.ok_or(io::ErrorKind::NotFound)?)
}
