//! For PMIx servers: the keys of a published segment, and what a rank learns about its PUs, as
//! arrays of `pmix_info_t`.
//!
//! libpmix is not linked. A call finds it in the process, or loads it.

use super::hwloc_topology::PMIX_SHMEM_NAMES;
use crate::publish::legacy::Legacy;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use topobroker_process::pmix_abi::{
    DATA_ARRAY, DEVICE_DISTANCE, DataArray, PROC_RANK, SIZE, STRING, SUCCESS,
};
use topobroker_reader::{
    Format, Keys, Set, Topology,
    devices::{DeviceDistance, DeviceKinds},
    jobs::Job,
};

/// Why the array cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum PmixError {
    /// libpmix cannot be loaded.
    #[error("libpmix.so.2 cannot be loaded: {reason}; a PMIx server has it in its process")]
    Library { reason: String },
    /// libpmix lacks a function.
    #[error("libpmix.so.2 has no {function}; expected PMIx 4.1 or later")]
    Function { function: &'static str },
    /// A function of libpmix fails.
    #[error("{function} fails with status {status} for key {key}")]
    Refused { function: &'static str, key: String, status: i32 },
    /// A file cannot be read.
    #[error("{file}: cannot be read")]
    Read { file: PathBuf, source: std::io::Error },
}

/// An array of `pmix_info_t`, in memory of libpmix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PmixInfos {
    /// The first element; NULL if there is none. The caller frees it with `PMIX_INFO_FREE`.
    pub array: *mut c_void,
    /// Number of elements.
    pub count: usize,
}

type Start = unsafe extern "C" fn() -> *mut c_void;
type Add = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_void, u16) -> c_int;
type Convert = unsafe extern "C" fn(*mut c_void, *mut DataArray) -> c_int;
type Release = unsafe extern "C" fn(*mut c_void);

/// One key with its value.
enum Info {
    Text(&'static str, CString),
    Size(&'static str, usize),
    Rank(&'static str, u32),
    Distances(&'static str, Vec<Distance>),
}

/// The distance of a device, with the texts that PMIx points to.
struct Distance {
    id: CString,
    name: CString,
    kind: u64,
    min: u16,
    max: u16,
}

/// `pmix_device_distance_t`.
#[repr(C)]
struct PmixDistance {
    id: *mut c_char,
    name: *mut c_char,
    kind: u64,
    min: u16,
    max: u16,
}

/// The keys of a segment and of its files for hwloc, for `PMIx_server_register_nspace` or
/// `PMIx_server_register_resources`.
///
/// The array has topobroker's own keys (`topobroker.file`, `.addr`, `.size`). With `job`, the file
/// of a job, it also has that file (`topobroker.job`). With `legacy` it also has the keys of the
/// hwloc segment, and the topology as XML of versions 2 and 1. For a job, `legacy` is that of the
/// job.
///
/// # Errors
///
/// [`PmixError`].
pub fn infos(
    keys: &Keys,
    job: Option<&Path>,
    legacy: Option<&Legacy>,
) -> Result<PmixInfos, PmixError> {
    let mut all = of_keys(Keys::PMIX_NAMES, keys);
    if let Some(job) = job {
        all.push(Info::Text(Job::PMIX_NAME, text(job.as_os_str())));
    }
    if let Some(legacy) = legacy {
        all.extend(of_keys(PMIX_SHMEM_NAMES, &legacy.keys()));
        all.push(Info::Text("pmix.hwlocxml2", read(legacy.xml2())?));
        all.push(Info::Text("pmix.hwlocxml1", read(legacy.xml1())?));
    }
    Library::load()?.array(&all)
}

/// What every process can ask PMIx about a rank that is bound to `cpuset`: its number, its PUs
/// (`PMIX_CPUSET`), its locality string (`PMIX_LOCALITY_STRING`) and the distances of devices that
/// have an id (`PMIX_DEVICE_DISTANCES`), in the job's part of the topology. Without a set, the rank
/// is not bound and there is its number alone. `host` is the name of this node. For a
/// `PMIX_PROC_DATA` of `PMIx_server_register_nspace`.
///
/// # Errors
///
/// [`PmixError`].
pub fn rank_infos(
    part: Topology<'_>,
    host: &str,
    rank: u32,
    cpuset: Option<&Set>,
) -> Result<PmixInfos, PmixError> {
    let mut all = vec![Info::Rank("pmix.rank", rank)];
    if let Some(cpuset) = cpuset {
        let list = cpuset.to_text(Format::List);
        all.push(Info::Text("pmix.cpuset", text(list.as_ref())));
        let locality = part.locality_string(cpuset);
        all.extend(locality.map(|it| Info::Text("pmix.locstr", text(it.as_ref()))));
        let distances = part.device_distances(cpuset, DeviceKinds::ALL);
        let distances: Vec<Distance> = distances.filter_map(|it| distance(&it, host)).collect();
        // A client that finds no devices must be able to ask PMIx.
        if !distances.is_empty() {
            all.push(Info::Distances("pmix.dev.dist", distances));
        }
    }
    Library::load()?.array(&all)
}

/// A distance as PMIx wants it; `None` if the device has no id or no distance.
fn distance(of: &DeviceDistance<'_>, host: &str) -> Option<Distance> {
    let DeviceDistance { device, kind, min, max } = *of;
    let id = text(device.pmix_device_id(host)?.as_ref());
    let name = text(device.name()?.as_ref());
    let known = min != DeviceDistance::UNKNOWN;
    known.then_some(Distance { id, name, kind: kind.bits(), min, max })
}

fn of_keys([file, address, size]: [&'static str; 3], keys: &Keys) -> Vec<Info> {
    let number = |value| usize::try_from(value).unwrap_or(usize::MAX);
    let [(_, name), ..] = keys.to_env();
    vec![
        Info::Text(file, text(&name)),
        Info::Size(address, number(keys.address())),
        Info::Size(size, number(keys.size())),
    ]
}

fn text(text: &OsStr) -> CString {
    CString::new(text.as_bytes()).unwrap_or_default()
}

fn read(file: &Path) -> Result<CString, PmixError> {
    let name = || file.to_owned();
    let text = std::fs::read(file).map_err(|source| PmixError::Read { file: name(), source })?;
    CString::new(text).map_err(|error| PmixError::Read { file: name(), source: error.into() })
}

impl PmixDistance {
    /// PMIx only reads it.
    fn of(distance: &Distance) -> Self {
        let Distance { id, name, kind, min, max } = distance;
        let (id, name) = (id.as_ptr().cast_mut(), name.as_ptr().cast_mut());
        Self { id, name, kind: *kind, min: *min, max: *max }
    }
}

struct Library {
    start: Start,
    add: Add,
    convert: Convert,
    release: Release,
}

impl Library {
    fn load() -> Result<Self, PmixError> {
        // SAFETY: the name is zero-terminated, and libpmix's initialisers do nothing before
        // PMIx_Init. The handle is never closed, so its functions stay valid.
        let handle = unsafe { libc::dlopen(c"libpmix.so.2".as_ptr(), libc::RTLD_LAZY) };
        if handle.is_null() {
            // SAFETY: `dlerror` returns NULL or a zero-terminated message, which is valid until the
            // next call in this thread. It is copied before that.
            let reason = unsafe {
                let message = libc::dlerror();
                if message.is_null() { c"no reason" } else { CStr::from_ptr(message) }
            };
            return Err(PmixError::Library { reason: reason.to_string_lossy().into_owned() });
        }
        let symbol = |name: &'static CStr| {
            // SAFETY: the handle is open, and the name is zero-terminated.
            let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
            let function = name.to_str().unwrap_or_default();
            if found.is_null() { Err(PmixError::Function { function }) } else { Ok(found) }
        };
        let (start, add) = (symbol(c"PMIx_Info_list_start")?, symbol(c"PMIx_Info_list_add")?);
        let (convert, release) =
            (symbol(c"PMIx_Info_list_convert")?, symbol(c"PMIx_Info_list_release")?);
        // SAFETY: no pointer is NULL, and the functions with these names have had these signatures
        // since PMIx 4.1.
        Ok(unsafe {
            Self {
                start: std::mem::transmute::<*mut c_void, Start>(start),
                add: std::mem::transmute::<*mut c_void, Add>(add),
                convert: std::mem::transmute::<*mut c_void, Convert>(convert),
                release: std::mem::transmute::<*mut c_void, Release>(release),
            }
        })
    }

    fn array(&self, infos: &[Info]) -> Result<PmixInfos, PmixError> {
        // SAFETY: the function takes no argument. The list is released below on every path.
        let list = unsafe { (self.start)() };
        let mut array = DataArray { kind: 0, size: 0, array: std::ptr::null_mut() };
        let added = infos.iter().try_for_each(|info| self.add(list, info));
        let converted = added.and_then(|()| {
            // SAFETY: the list is open, and `array` is an output.
            match unsafe { (self.convert)(list, &raw mut array) } {
                SUCCESS => Ok(()),
                status => {
                    let (function, key) = ("PMIx_Info_list_convert", "all".to_owned());
                    Err(PmixError::Refused { function, key, status })
                }
            }
        });
        // SAFETY: the list is open, and is not used again.
        unsafe { (self.release)(list) };
        converted.map(|()| PmixInfos { array: array.array, count: array.size })
    }

    fn add(&self, list: *mut c_void, info: &Info) -> Result<(), PmixError> {
        let mut rows = match info {
            Info::Distances(_, distances) => distances.iter().map(PmixDistance::of).collect(),
            _ => Vec::new(),
        };
        let array = rows.as_mut_ptr().cast::<c_void>();
        let array = DataArray { kind: DEVICE_DISTANCE, size: rows.len(), array };
        let (key, value, kind) = match info {
            Info::Text(key, text) => (*key, text.as_ptr().cast::<c_void>(), STRING),
            Info::Size(key, size) => (*key, std::ptr::from_ref(size).cast(), SIZE),
            Info::Rank(key, rank) => (*key, std::ptr::from_ref(rank).cast(), PROC_RANK),
            Info::Distances(key, _) => (*key, std::ptr::from_ref(&array).cast(), DATA_ARRAY),
        };
        let name = CString::new(key).unwrap_or_default();
        // SAFETY: the list is open, and the key is zero-terminated. `value` points to a
        // zero-terminated string, a size_t, a pmix_rank_t or an array whose texts live as long as
        // `info`, as `kind` says; PMIx copies it.
        match unsafe { (self.add)(list, name.as_ptr(), value, kind) } {
            SUCCESS => Ok(()),
            status => {
                let (function, key) = ("PMIx_Info_list_add", key.to_owned());
                Err(PmixError::Refused { function, key, status })
            }
        }
    }
}
