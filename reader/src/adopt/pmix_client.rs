//! Asks the libpmix that is already in this process for the keys that its PMIx server has.
//!
//! Nothing is linked or loaded. A process without PMIx only looks at its environment.

use super::keys::Keys;
use alloc::borrow::ToOwned;
use alloc::ffi::CString;
use alloc::format;
use alloc::string::{String, ToString};
use core::ffi::{CStr, c_int, c_void};
use topobroker_process::pmix_abi::{
    Get, Info, MAX_NAMESPACE, Process, SIZE, STRING, SUCCESS, UINT64, Value, WILDCARD,
};
use topobroker_process::trusted_var;

/// Environment variable that every PMIx server sets for its clients: their namespace.
const NAMESPACE: &str = "PMIX_NAMESPACE";

type Initialized = unsafe extern "C" fn() -> c_int;
type Free = unsafe extern "C" fn(*mut Value, usize);
type Destruct = unsafe extern "C" fn(*mut Value);

/// Keys of a segment from the PMIx server, if this process has initialised PMIx and the server has
/// them. `names` are the PMIx names of file, address and size: [`Keys::PMIX_NAMES`], or those of
/// hwloc's own segment.
///
/// Nothing is linked or loaded: only a libpmix that is already in the process is asked.
/// Counterpart: `PMIx_Get` on the wildcard rank.
#[doc(alias = "PMIx_Get")]
#[must_use]
pub fn pmix_keys(names: [&str; 3]) -> Option<Keys> {
    let [file, address, size] = names.map(pmix_value);
    let address = address?;
    let address = address.parse().map_or(address, |address: u64| format!("{address:#x}"));
    Keys::parse(&file?, &address, &size?).ok()
}

/// The value that this process's PMIx server has under a key for all ranks, as text; numbers are
/// decimal. `None` if the process has not initialised PMIx, or if the server has no text or number
/// under the key.
#[must_use]
pub fn pmix_value(key: &str) -> Option<String> {
    let namespace = trusted_var(NAMESPACE).filter(|name| name.len() <= MAX_NAMESPACE)?;
    Library::loaded()?.get(&namespace, key)
}

/// The libpmix of this process.
struct Library {
    get: Get,
    free: Option<Free>,
    destruct: Option<Destruct>,
}

impl Library {
    /// The libpmix that is loaded in this process, in any scope, and initialised; `None` if there
    /// is none.
    fn loaded() -> Option<Self> {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: the name ends with a zero. Because of NOLOAD, nothing is loaded and no code of
        // the library runs.
        let handle = unsafe { libc::dlopen(c"libpmix.so.2".as_ptr(), flags) };
        if handle.is_null() {
            return None;
        }
        let found = Self::in_library(handle);
        // SAFETY: `handle` came from `dlopen` and is not used again. The program's own reference
        // keeps the library loaded.
        unsafe { libc::dlclose(handle) };
        found
    }

    fn in_library(handle: *mut c_void) -> Option<Self> {
        // SAFETY: the handle is open, and the name ends with a zero.
        let symbol = |name: &CStr| unsafe { libc::dlsym(handle, name.as_ptr()) };
        let (initialized, get) = (symbol(c"PMIx_Initialized"), symbol(c"PMIx_Get"));
        if initialized.is_null() || get.is_null() {
            return None;
        }
        // SAFETY: functions of these names have had these signatures since PMIx 1
        // (`PMIx_Value_free` since 5, `PMIx_Value_destruct` since 4). The first two pointers are
        // not null; a null pointer among the others becomes `None`.
        let (initialized, get, free, destruct) = unsafe {
            (
                core::mem::transmute::<*mut c_void, Initialized>(initialized),
                core::mem::transmute::<*mut c_void, Get>(get),
                core::mem::transmute::<*mut c_void, Option<Free>>(symbol(c"PMIx_Value_free")),
                core::mem::transmute::<*mut c_void, Option<Destruct>>(symbol(
                    c"PMIx_Value_destruct",
                )),
            )
        };
        // SAFETY: `PMIx_Initialized` may be called at any time.
        (unsafe { initialized() } != 0).then_some(Self { get, free, destruct })
    }

    /// The value of a key for the whole namespace, as text. Only what the client already knows is
    /// searched; the server is not asked.
    fn get(&self, namespace: &str, key: &str) -> Option<String> {
        let process = Process::new(namespace, WILDCARD);
        let optional = Info::is_true("pmix.optional");
        let key = CString::new(key).ok()?;
        let mut value = core::ptr::null_mut();
        // SAFETY:
        // - All pointers are to values that live until the call returns. Key and namespace end with
        //   a zero.
        // - `optional` is a `pmix_info_t`: key, flags, a value of type bool, and more room than the
        //   union of any version takes.
        let status = unsafe {
            (self.get)(&raw const process, key.as_ptr(), &raw const optional, 1, &raw mut value)
        };
        if status != SUCCESS || value.is_null() {
            return None;
        }
        // SAFETY: the call succeeded, so `value` points to a value that PMIx allocated for its
        // caller.
        let text = unsafe { text_of(&*value) };
        self.release(value);
        text
    }

    /// Frees a value: with the function of PMIx 5, otherwise as the macro of PMIx 4 does.
    fn release(&self, value: *mut Value) {
        // SAFETY: `value` came from `PMIx_Get`, and nothing refers to it any more. PMIx 4 allocates
        // values with malloc.
        unsafe {
            match (self.free, self.destruct) {
                (Some(free), _) => free(value, 1),
                (None, Some(destruct)) => {
                    destruct(value);
                    libc::free(value.cast());
                }
                (None, None) => {}
            }
        }
    }
}

/// The text or number of a value.
///
/// # Safety
///
/// `value` must come from PMIx.
unsafe fn text_of(value: &Value) -> Option<String> {
    match value.kind {
        STRING => {
            // SAFETY: a value of this type holds a pointer: NULL, or a string that ends with a
            // zero.
            let text = unsafe { value.data.text.as_ref() }?;
            // SAFETY: the pointer is not NULL, so it is to a string of PMIx, which ends with a
            // zero.
            unsafe { CStr::from_ptr(text) }.to_str().ok().map(str::to_owned)
        }
        // SAFETY: a value of one of these types holds a number of 64 bits.
        SIZE | UINT64 => Some(unsafe { value.data.uint64 }.to_string()),
        _ => None,
    }
}
