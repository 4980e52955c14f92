//! Finds hwloc's own functions, in the hwloc library that the caller means.

use core::ffi::{CStr, c_int, c_uint, c_void};
use core::ptr;

/// `hwloc_topology_t`: a structure that differs between versions of hwloc.
pub(crate) type Topology = *mut c_void;

/// `struct hwloc_obj` of hwloc 2, as far as the guard reads it.
#[repr(C)]
pub(crate) struct Object {
    object_type: c_int,
    subtype: *mut c_void,
    os_index: c_uint,
    name: *mut c_void,
    total_memory: u64,
    attributes: *mut c_void,
    pub(crate) depth: c_int,
    pub(crate) logical_index: c_uint,
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
    scope: *mut c_void,
    /// Where the library is mapped.
    pub(crate) base: usize,
}

impl Hwloc {
    /// The hwloc that the caller would have called without this library: in the caller and the
    /// libraries that it was loaded with; else behind this library in the global scope of the
    /// process; else one that was loaded privately. `None` if there is none.
    pub(crate) fn of(caller: &Place) -> Option<Self> {
        let known = [c"libhwloc.so.15", c"libhwloc.so.16", c"libhwloc.so"];
        let next = || Self::in_scope(libc::RTLD_NEXT);
        let private = || known.into_iter().find_map(Self::in_library);
        // The program itself is no library that could be opened.
        // SAFETY: the call takes nothing but a number.
        let program = unsafe { libc::getauxval(libc::AT_PHDR) };
        let program =
            Place::of(ptr::without_provenance(usize::try_from(program).unwrap_or(0))).base;
        let library = caller.file.filter(|_| caller.base != program);
        library.and_then(Self::in_library).or_else(next).or_else(private)
    }

    fn in_library(file: &CStr) -> Option<Self> {
        const LOADED: c_int = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: the name ends with a zero. With RTLD_NOLOAD nothing is loaded, so no code runs.
        let scope = unsafe { libc::dlopen(file.as_ptr(), LOADED) };
        if scope.is_null() { None } else { Self::in_scope(scope) }
    }

    fn in_scope(scope: *mut c_void) -> Option<Self> {
        // Dropped, and so closed, if there is no hwloc in it.
        let mut found = Self { scope, base: 0 };
        found.base = Place::of(found.address(c"hwloc_topology_load")?).base;
        let this = Place::of(Self::in_scope as *const c_void).base;
        (found.base != this).then_some(found)
    }

    /// hwloc's function of a name. The caller chooses as `F` the type that hwloc's header gives it.
    pub(crate) fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
        let found = self.address(name)?;
        // SAFETY: `F` has the size of a pointer (asserted), `found` is not NULL, and the type is the
        // caller's choice.
        Some(unsafe { core::mem::transmute_copy(&found) })
    }

    fn address(&self, name: &CStr) -> Option<*const c_void> {
        // SAFETY: the scope is open, and the name ends with a zero.
        let found = unsafe { libc::dlsym(self.scope, name.as_ptr()) };
        (!found.is_null()).then_some(found.cast_const())
    }

    /// Version of its interface, such as 0x20900.
    pub(crate) fn version(&self) -> c_uint {
        let version = self.function::<unsafe extern "C" fn() -> c_uint>(c"hwloc_get_api_version");
        // SAFETY: it is hwloc's function, and takes nothing.
        version.map_or(0, |version| unsafe { version() })
    }
}

impl Drop for Hwloc {
    fn drop(&mut self) {
        if self.scope != libc::RTLD_NEXT {
            // SAFETY: `in_library` has opened it. It stays loaded, because a library that uses it is
            // calling.
            unsafe { libc::dlclose(self.scope) };
        }
    }
}

/// A loaded program or library.
pub(crate) struct Place {
    /// Where it is mapped; 0 if the address is in none.
    pub(crate) base: usize,
    /// Its file.
    pub(crate) file: Option<&'static CStr>,
}

impl Place {
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

    /// Name of its file, without folders.
    pub(crate) fn name(&self) -> &'static str {
        let path = self.file.and_then(|file| file.to_str().ok()).unwrap_or("?");
        path.rsplit('/').next().unwrap_or(path)
    }
}
