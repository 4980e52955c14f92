//! The legacy lane: hwloc's own segment and XML next to a segment, for programs that know only
//! hwloc or PMIx.

use super::address::{self, OF_HWLOC_SEGMENTS};
use super::error::{LegacyError, PublishError};
use super::options::mode;
use super::store::named;
use crate::file_bytes::with_ending;
use crate::hwloc::{self, HwlocTopology, Input, LoadOptions, TypeFilter};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use topobroker_layout::object_type::ObjectType;
use topobroker_reader::text::xml;
use topobroker_reader::{FileKey, Keys, Topology, links::DeclaredLinks};
use topobroker_slots::SLOTS_ENDING;

/// The files for hwloc next to a segment or job. They are removed with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Legacy {
    segment: PathBuf,
    address: u64,
    size: u64,
    xml2: PathBuf,
    xml1: PathBuf,
    is_this_system: bool,
}

/// Ending of the name of hwloc's own segment, after the name of the segment or job.
pub const HWLOC_ENDING: &str = "+hwloc";

/// Endings of the file names, after the name of the segment or job. No name of a job contains the
/// `+`. The last ones are those of the slots for the guard and of links.
const ENDINGS: [&str; 5] =
    [FOR_HWLOC[0], FOR_HWLOC[1], FOR_HWLOC[2], SLOTS_ENDING, DeclaredLinks::ENDING];

/// The endings of the files that `legacy` asks for.
pub(crate) const FOR_HWLOC: [&str; 3] = [HWLOC_ENDING, "+xml2", "+xml1"];

/// Values of `HWLOC_TOPOLOGY_FLAG_*`.
const INCLUDE_DISALLOWED: u64 = 1;
const IS_THIS_SYSTEM: u64 = 2;
const IMPORT_SUPPORT: u64 = 8;

/// Publishes the visible objects of a topology or view as an hwloc segment and as XML of versions 2
/// and 1, in files next to a segment or job. Removing the segment or job removes them too.
///
/// The hwloc segment has the objects that PMIx servers share: hwloc's default types and important
/// I/O devices. If the topology is of this machine, the segment says so, and processes that adopt
/// the segment can bind.
///
/// # Errors
///
/// [`LegacyError`].
pub(super) fn publish(
    topology: Topology<'_>,
    base: &Path,
    private: bool,
) -> Result<Legacy, LegacyError> {
    let mode = mode(private);
    let is_this_system = topology.is_this_system();
    let text = xml::export(topology);
    let kept = topology.flags() & INCLUDE_DISALLOWED;
    let flags = kept | if is_this_system { IS_THIS_SYSTEM } else { IMPORT_SUPPORT };
    let load = |filters| {
        let options = LoadOptions { flags, filters };
        hwloc::load(&Input::XmlText(text.clone()), &options)
    };
    let [segment, xml2, xml1] = FOR_HWLOC.map(|ending| with_ending(base, ending));
    let mut made = Made::default();
    let (address, size) = write_segment(&load(pmix_filters())?, &segment, mode)?;
    made.files.push(segment.clone());
    write_file(&xml2, text.as_bytes(), mode)?;
    made.files.push(xml2.clone());
    let v1 = hwloc::export_v1(&load(Vec::new())?).map_err(|source| LegacyError::Hwloc {
        file: xml1.clone(),
        step: "export XML of version 1",
        source,
    })?;
    write_file(&xml1, &v1, mode)?;
    made.files.clear();
    Ok(Legacy { segment, address, size, xml2, xml1, is_this_system })
}

impl Legacy {
    /// File, address and size of the hwloc segment.
    #[must_use]
    pub fn keys(&self) -> Keys {
        Keys::new(FileKey::Path(self.segment.as_path().into()), self.address, self.size)
    }

    /// File of the topology as XML of version 2.
    #[must_use]
    pub fn xml2(&self) -> &Path {
        &self.xml2
    }

    /// File of the topology as XML of version 1.
    #[must_use]
    pub fn xml1(&self) -> &Path {
        &self.xml1
    }

    /// Name and value of each environment variable. They give the keys, under the names that are
    /// proposed to PMIx for libraries without it, and make an unmodified hwloc read the XML. If the
    /// topology is of this machine, they say so to hwloc, and hwloc can bind.
    #[must_use]
    pub fn to_env(&self) -> Vec<(&'static str, OsString)> {
        let mut all: Vec<(&'static str, OsString)> = vec![
            (SHMEM_FILE, self.segment.clone().into()),
            (SHMEM_ADDR, format!("{:#x}", self.address).into()),
            (SHMEM_SIZE, self.size.to_string().into()),
            ("HWLOC_XMLFILE", self.xml2.clone().into()),
        ];
        if self.is_this_system {
            // The second variable makes hwloc leave out what the cgroup of its process does not
            // allow, as hwloc does when it discovers the machine.
            let names = ["HWLOC_THISSYSTEM", "HWLOC_THISSYSTEM_ALLOWED_RESOURCES"];
            all.extend(names.map(|name| (name, "1".into())));
        }
        all
    }
}

/// Environment variable with the file of an hwloc segment.
pub(crate) const SHMEM_FILE: &str = "PMIX_HWLOC_SHMEM_FILE";
/// Environment variable with the address of an hwloc segment.
pub(crate) const SHMEM_ADDR: &str = "PMIX_HWLOC_SHMEM_ADDR";
/// Environment variable with the size of an hwloc segment.
pub(crate) const SHMEM_SIZE: &str = "PMIX_HWLOC_SHMEM_SIZE";

/// The filters of PMIx servers: hwloc's defaults, and important I/O devices.
fn pmix_filters() -> Vec<(ObjectType, TypeFilter)> {
    use ObjectType::{
        Bridge, Group, L1ICache, L2ICache, L3ICache, MemCache, Misc, OSDevice, PCIDevice,
    };
    let none = [L1ICache, L2ICache, L3ICache, MemCache, Misc].map(|it| (it, TypeFilter::None));
    let important = [Bridge, PCIDevice, OSDevice].map(|it| (it, TypeFilter::Important));
    let structure = [(Group, TypeFilter::Structure)];
    none.into_iter().chain(important).chain(structure).collect()
}

/// Writes the hwloc segment for the first of [`OF_HWLOC_SEGMENTS`] that is free in this process.
fn write_segment(
    topology: &HwlocTopology<'_>,
    path: &Path,
    mode: u32,
) -> Result<(u64, u64), LegacyError> {
    let file = || path.to_owned();
    let length = hwloc::shmem_length(topology).map_err(|source| LegacyError::Hwloc {
        file: file(),
        step: "report the length of its segment",
        source,
    })?;
    let address = at_first_free(path, OF_HWLOC_SEGMENTS, length, mode, |file, address| {
        let start = usize::try_from(address).unwrap_or(0);
        hwloc::write_shmem(topology, file, start, length)
    })?;
    Ok((address, length as u64))
}

/// Publishes a file that hwloc writes for the first of some addresses that is free in this process.
/// Returns that address. `parts` are those of addresses ([`address::at`]).
pub(super) fn at_first_free(
    path: &Path,
    parts: impl IntoIterator<Item = u64>,
    length: usize,
    mode: u32,
    mut write: impl FnMut(&File, u64) -> io::Result<()>,
) -> Result<u64, LegacyError> {
    let mut taken = io::ErrorKind::AddrInUse.into();
    for address in parts.into_iter().map(address::at) {
        let mut refused = None;
        let written = named::publish_written(path, length, mode, |file| {
            write(file, address).inspect_err(|error| refused = error.raw_os_error())
        });
        match (written, refused) {
            (Ok(_), _) => return Ok(address),
            (Err(PublishError::Store { source, .. }), Some(EBUSY)) => taken = source,
            (Err(error), _) => return Err(error.into()),
        }
    }
    Err(LegacyError::Address { file: path.to_owned(), source: taken })
}

/// The error that hwloc reports for an address range that is not free.
const EBUSY: i32 = rustix::io::Errno::BUSY.raw_os_error();

fn write_file(path: &Path, bytes: &[u8], mode: u32) -> Result<(), LegacyError> {
    let write = |mut file: &File| file.write_all(bytes);
    named::publish_written(path, bytes.len(), mode, write)?;
    Ok(())
}

/// Removes the files for hwloc next to a segment or job.
pub(super) fn remove_companions(file: &Path) {
    for ending in ENDINGS {
        // Usually there is no such file.
        let _ = std::fs::remove_file(with_ending(file, ending));
    }
}

/// The files for hwloc that are next to a segment or job, and the links and slots there.
pub(crate) fn companion_files(file: &Path) -> Vec<PathBuf> {
    let files = ENDINGS.iter().map(|ending| with_ending(file, ending));
    files.filter(|file| file.exists()).collect()
}

/// A file name without the ending of a file for hwloc, and whether it had such an ending.
pub(super) fn split_name(name: &str) -> (&str, bool) {
    let own = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending));
    (own.unwrap_or(name), own.is_some())
}

/// Files that are removed if a later one cannot be made.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
}

impl Drop for Made {
    fn drop(&mut self) {
        for file in &self.files {
            // The caller gets the error that made publishing fail, not one of removing.
            let _ = std::fs::remove_file(file);
        }
    }
}
