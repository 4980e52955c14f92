//! Finds hwloc's own functions, in the hwloc library that the caller means.

use crate::loaded;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ffi::{CStr, c_int, c_uint, c_ulong, c_void};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use rustix::fs::CWD;
use topobroker_slots::hash_of_file;

/// `hwloc_topology_t`: a structure that differs between versions of hwloc.
pub(crate) type Topology = *mut c_void;

/// `struct hwloc_obj` of hwloc 2, as far as the guard reads it.
#[repr(C)]
pub(crate) struct Object {
    pub(crate) object_type: c_int,
    pub(crate) subtype: *mut c_void,
    os_index: c_uint,
    pub(crate) name: *mut c_void,
    total_memory: u64,
    attributes: *mut c_void,
    depth: c_int,
    logical_index: c_uint,
    cousins: [*mut c_void; 2],
    parent: *mut c_void,
    sibling_rank: c_uint,
    siblings: [*mut c_void; 2],
    arity: c_uint,
    children: [*mut c_void; 3],
    symmetric_subtree: c_int,
    memory_arity: c_uint,
    memory_first_child: *mut c_void,
    io_arity: c_uint,
    io_first_child: *mut c_void,
    misc_arity: c_uint,
    misc_first_child: *mut c_void,
    sets: [*mut c_void; 4],
    pub(crate) infos: *mut Info,
    pub(crate) infos_count: c_uint,
    pub(crate) userdata: *mut c_void,
    pub(crate) gp_index: u64,
}

/// `struct hwloc_info_s`.
#[repr(C)]
pub(crate) struct Info {
    pub(crate) name: *mut c_void,
    pub(crate) value: *mut c_void,
}

/// The hwloc library that a caller means. A process may have several, each for the library that
/// brought it.
pub(crate) struct Hwloc {
    scope: Scope,
    /// Where the library is mapped.
    pub(crate) base: usize,
    file: Option<&'static CStr>,
    /// Functions that the guard calls while it holds its lock. They are looked up before, because
    /// the loader has a lock too.
    pub(crate) functions: Functions,
}

/// hwloc's functions that the guard itself calls.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    pub(crate) dup: unsafe extern "C" fn(*mut Topology, Topology) -> c_int,
    pub(crate) get_support: unsafe extern "C" fn(Topology) -> *mut [*mut c_void; 4],
    pub(crate) get_userdata: unsafe extern "C" fn(Topology) -> *mut c_void,
    pub(crate) set_userdata: unsafe extern "C" fn(Topology, *const c_void),
    pub(crate) get_depth: unsafe extern "C" fn(Topology) -> c_int,
    pub(crate) get_object: unsafe extern "C" fn(Topology, c_int, c_uint) -> *mut Object,
    pub(crate) destroy: unsafe extern "C" fn(Topology),
}

impl Functions {
    /// The objects of a topology, level by level.
    ///
    /// # Safety
    ///
    /// The topology must be valid as long as the objects are asked for.
    pub(crate) unsafe fn levels(
        &self,
        topology: Topology,
    ) -> impl Iterator<Item = impl Iterator<Item = *mut Object>> {
        /// Depths of the special types: NUMANode to MemCache.
        const SPECIAL: core::ops::RangeInclusive<c_int> = -8..=-3;
        let Self { get_depth, get_object, .. } = *self;
        // SAFETY: the topology is valid.
        let depths = (0..unsafe { get_depth(topology) }).chain(SPECIAL);
        depths.map(move |depth| {
            // SAFETY: the topology is valid. hwloc returns NULL behind the last object of a depth.
            let object = move |index| unsafe { get_object(topology, depth, index) };
            (0..).map(object).take_while(|it| !it.is_null())
        })
    }
}

/// An open scope of the dynamic loader.
struct Scope(*mut c_void);

impl Scope {
    fn address(&self, name: &CStr) -> Option<*const c_void> {
        // SAFETY: the scope is open, and the name ends with a zero.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!found.is_null()).then_some(found.cast_const())
    }

    /// hwloc's function of a name. The caller chooses as `F` the type that hwloc's header gives it.
    fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
        let found = self.address(name)?;
        // SAFETY: `F` has the size of a pointer (asserted), `found` is not NULL, and the type is
        // the caller's choice.
        Some(unsafe { core::mem::transmute_copy(&found) })
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if self.0 != libc::RTLD_NEXT {
            // SAFETY: `in_library` has opened it. It stays loaded, because a library that uses it
            // is calling.
            unsafe { libc::dlclose(self.0) };
        }
    }
}

/// Where the hwloc library is mapped that the program was started with; 0 if there is none.
static FROM_START: AtomicUsize = AtomicUsize::new(0);

/// Entry that makes the dynamic loader call `at_start` when it has loaded all that the program
/// needs.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    let base = Hwloc::in_scope(Scope(libc::RTLD_NEXT)).map_or(0, |hwloc| hwloc.base);
    FROM_START.store(base, Ordering::Relaxed);
}

impl Hwloc {
    /// The hwloc that the caller would have called without this library: one that was in the
    /// process from the start, which every library finds first; otherwise that of the caller and
    /// the libraries that it was loaded with; otherwise any other. `None` if there is none.
    pub(crate) fn of(caller: &LoadedFile) -> Option<Self> {
        let next = || Self::in_scope(Scope(libc::RTLD_NEXT));
        let first = || next().filter(|found| found.base == FROM_START.load(Ordering::Relaxed));
        let own = || caller.file.filter(|_| !caller.is_program()).and_then(Self::in_library);
        let any = || loaded::named_hwloc().into_iter().find_map(Self::in_library);
        first().or_else(own).or_else(next).or_else(any)
    }

    fn in_library(file: &'static CStr) -> Option<Self> {
        const LOADED: c_int = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: the name ends with a zero. With RTLD_NOLOAD nothing is loaded, so no code runs.
        let scope = unsafe { libc::dlopen(file.as_ptr(), LOADED) };
        if scope.is_null() { None } else { Self::in_scope(Scope(scope)) }
    }

    fn in_scope(scope: Scope) -> Option<Self> {
        let place = LoadedFile::of(scope.address(c"hwloc_topology_load")?);
        let this = LoadedFile::of(Self::in_scope as *const c_void).base;
        if place.base == this {
            return None;
        }
        let functions = Functions {
            dup: scope.function(c"hwloc_topology_dup")?,
            get_support: scope.function(c"hwloc_topology_get_support")?,
            get_userdata: scope.function(c"hwloc_topology_get_userdata")?,
            set_userdata: scope.function(c"hwloc_topology_set_userdata")?,
            get_depth: scope.function(c"hwloc_topology_get_depth")?,
            get_object: scope.function(c"hwloc_get_obj_by_depth")?,
            destroy: scope.function(c"hwloc_topology_destroy")?,
        };
        Some(Self { scope, base: place.base, file: place.file, functions })
    }

    /// hwloc's function of a name. The caller chooses as `F` the type that hwloc's header gives it.
    pub(crate) fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        self.scope.function(name)
    }

    /// Whether a topology has kinds of CPUs.
    pub(crate) fn has_kinds(&self, topology: Topology) -> bool {
        type Count = unsafe extern "C" fn(Topology, c_ulong) -> c_int;
        let count = self.function::<Count>(c"hwloc_cpukinds_get_nr");
        // SAFETY: it is hwloc's function, and the topology is valid.
        count.is_some_and(|count| unsafe { count(topology, 0) } > 0)
    }

    /// A hash of its file.
    pub(crate) fn hash_of_file(&self) -> Option<u64> {
        let stat = rustix::fs::stat(self.file?).ok()?;
        Some(hash_of_file(stat.st_dev, stat.st_ino))
    }

    /// Version of its interface, such as 0x20900.
    pub(crate) fn version(&self) -> c_uint {
        let version = self.function::<unsafe extern "C" fn() -> c_uint>(c"hwloc_get_api_version");
        // SAFETY: it is hwloc's function, and takes nothing.
        version.map_or(0, |version| unsafe { version() })
    }
}

/// A loaded program or library.
pub(crate) struct LoadedFile {
    /// Where it is mapped; 0 if the address is in none.
    pub(crate) base: usize,
    /// Its file.
    pub(crate) file: Option<&'static CStr>,
}

impl LoadedFile {
    /// The program or library that contains an address.
    pub(crate) fn of(address: *const c_void) -> Self {
        let mut info = libc::Dl_info {
            dli_fname: ptr::null(),
            dli_fbase: ptr::null_mut(),
            dli_sname: ptr::null(),
            dli_saddr: ptr::null_mut(),
        };
        // SAFETY: the call accepts any address, and `info` is a valid output.
        if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
            return Self { base: 0, file: None };
        }
        // SAFETY: the name ends with a zero and lives as long as the object is loaded, which is
        // longer than the call that it made or provides.
        let file = unsafe { CStr::from_ptr(info.dli_fname) };
        Self { base: info.dli_fbase.addr(), file: Some(file) }
    }

    /// Whether it is the program itself, and no library.
    fn is_program(&self) -> bool {
        // SAFETY: the call takes nothing but a number.
        let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
        let headers = ptr::without_provenance(usize::try_from(headers).unwrap_or(0));
        Self::of(headers).base == self.base
    }

    /// Name of its file behind all links, which has the whole version of a library.
    pub(crate) fn name_with_version(&self) -> String {
        let mut name = self.name().to_string();
        let Some(mut file) = self.file.map(|file| file.to_string_lossy().into_owned()) else {
            return name;
        };
        /// As many links as Linux follows.
        const MOST_LINKS: usize = 40;
        for _ in 0..MOST_LINKS {
            let Ok(link) = rustix::fs::readlinkat(CWD, file.as_str(), Vec::new()) else { break };
            let link = link.to_string_lossy().into_owned();
            name = link.rsplit('/').next().unwrap_or(&link).to_string();
            let folder = if link.starts_with('/') { "" } else { folder_of(&file) };
            file = [folder, &link].concat();
        }
        name
    }

    /// Name of its file, without folders.
    pub(crate) fn name(&self) -> &'static str {
        let path = self.file.and_then(|file| file.to_str().ok()).unwrap_or("?");
        path.rsplit('/').next().unwrap_or(path)
    }
}

/// The folders of a path, with the slash.
fn folder_of(path: &str) -> &str {
    path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default()
}
