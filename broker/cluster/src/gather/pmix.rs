//! The exchange of PMIx: put, commit, fence with collection, get.

use super::error::GatherError;
use super::rounds::Exchange;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use topobroker_process::pmix_abi::{
    BYTE_OBJECT, Bytes, Data, Get, GivenValue, Info, Process, STRING, UINT16, UINT32, Value,
    WILDCARD,
};

/// `PMIX_GLOBAL`.
const GLOBAL: u8 = 3;

type Init = unsafe extern "C" fn(*mut Process, *const Info, usize) -> c_int;
type Finalize = unsafe extern "C" fn(*const Info, usize) -> c_int;
type Put = unsafe extern "C" fn(u8, *const c_char, *mut GivenValue) -> c_int;
type Commit = unsafe extern "C" fn() -> c_int;
type Fence = unsafe extern "C" fn(*const Process, usize, *const Info, usize) -> c_int;
type Text = unsafe extern "C" fn(c_int) -> *const c_char;

/// This process as a client of PMIx, below `srun --mpi=pmix`, `mpirun` or another launcher with
/// PMIx. Dropping it leaves PMIx.
pub struct PmixExchange {
    put: Put,
    commit: Commit,
    fence: Fence,
    get: Get,
    finalize: Finalize,
    text: Text,
    me: Process,
    size: u32,
    round: u32,
}

impl PmixExchange {
    /// Connects to the PMIx server of this process's launcher. libpmix is loaded for that.
    ///
    /// # Errors
    ///
    /// [`GatherError::Exchange`] if there is no libpmix or no server.
    pub fn connect() -> Result<Self, GatherError> {
        let failed = |step, what: String| GatherError::Exchange { step, what };
        // SAFETY: the name ends with a zero. libpmix is a library that any program may load.
        let handle =
            unsafe { libc::dlopen(c"libpmix.so.2".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if handle.is_null() {
            return Err(failed(
                "loading libpmix.so.2",
                "there is none; install libpmix2".to_owned(),
            ));
        }
        let symbol = |name: &CStr| {
            // SAFETY: the handle is open, and the name ends with a zero.
            let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
            let missing = || failed("libpmix.so.2", format!("has no {}", name.to_string_lossy()));
            if found.is_null() { Err(missing()) } else { Ok(found) }
        };
        let found = [
            symbol(c"PMIx_Init")?,
            symbol(c"PMIx_Finalize")?,
            symbol(c"PMIx_Put")?,
            symbol(c"PMIx_Commit")?,
            symbol(c"PMIx_Fence")?,
            symbol(c"PMIx_Get")?,
            symbol(c"PMIx_Error_string")?,
        ];
        let [init, finalize, put, commit, fence, get, text] = found;
        // SAFETY: functions of these names have these signatures since PMIx 2. None is null.
        let (init, finalize, put, commit, fence, get, text) = unsafe {
            (
                std::mem::transmute::<*mut c_void, Init>(init),
                std::mem::transmute::<*mut c_void, Finalize>(finalize),
                std::mem::transmute::<*mut c_void, Put>(put),
                std::mem::transmute::<*mut c_void, Commit>(commit),
                std::mem::transmute::<*mut c_void, Fence>(fence),
                std::mem::transmute::<*mut c_void, Get>(get),
                std::mem::transmute::<*mut c_void, Text>(text),
            )
        };
        let mut me = Process::new("", 0);
        // SAFETY: `me` is an output that is as large as a `pmix_proc_t`; no infos are handed over.
        let status = unsafe { init(&raw mut me, std::ptr::null(), 0) };
        if status != 0 {
            return Err(failed("PMIx_Init", message(text, status)));
        }
        let mut exchange = Self { put, commit, fence, get, finalize, text, me, size: 0, round: 0 };
        let all = Process { rank: WILDCARD, ..me };
        exchange.size = exchange.number(&all, "pmix.job.size")?;
        Ok(exchange)
    }

    /// Rank of this process.
    #[must_use]
    pub fn rank(&self) -> u32 {
        self.me.rank
    }

    /// Rank among the processes of this node: that of rank 0 reports the node.
    ///
    /// # Errors
    ///
    /// [`GatherError::Exchange`].
    pub fn local_rank(&self) -> Result<u32, GatherError> {
        self.number(&self.me, "pmix.lrank")
    }

    /// Name of this node, as the launcher knows it.
    ///
    /// # Errors
    ///
    /// [`GatherError::Exchange`].
    pub fn host(&self) -> Result<String, GatherError> {
        self.value(&self.me, "pmix.hname", |value| {
            if value.kind != STRING {
                return None;
            }
            // SAFETY: a value of this type holds a pointer: NULL, or a string that ends with a
            // zero.
            let text = unsafe { value.data.text.as_ref() }?;
            // SAFETY: the pointer is not NULL, so it is to a string of PMIx.
            Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        })
    }

    fn number(&self, of: &Process, key: &str) -> Result<u32, GatherError> {
        self.value(of, key, |value| match value.kind {
            // SAFETY: a value of this type holds a number of 16 bits.
            UINT16 => Some(u32::from(unsafe { value.data.uint16 })),
            // SAFETY: a value of this type holds a number of 32 bits.
            UINT32 => Some(unsafe { value.data.uint32 }),
            _ => None,
        })
    }

    /// A value of a process, as `read` makes it of what PMIx has.
    fn value<T>(
        &self,
        of: &Process,
        key: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, GatherError> {
        let failed = |what: String| GatherError::Exchange { step: "PMIx_Get", what };
        let name = CString::new(key).map_err(|error| failed(error.to_string()))?;
        let mut value = std::ptr::null_mut();
        // SAFETY: all pointers are to values that live until the call returns; `value` is an
        // output.
        let status = unsafe { (self.get)(of, name.as_ptr(), std::ptr::null(), 0, &raw mut value) };
        // SAFETY: if the call succeeded, `value` points to a value that PMIx allocated for its
        // caller. It is not freed: how is different from version to version, and this program ends
        // soon.
        let value = unsafe { value.as_ref() }.filter(|_| status == 0);
        let value =
            value.ok_or_else(|| failed(format!("{key}: {}", message(self.text, status))))?;
        read(value).ok_or_else(|| failed(format!("{key}: is of type {}", value.kind)))
    }

    fn check(&self, step: &'static str, status: c_int) -> Result<(), GatherError> {
        match status {
            0 => Ok(()),
            _ => Err(GatherError::Exchange { step, what: message(self.text, status) }),
        }
    }
}

impl Exchange for PmixExchange {
    fn all(&mut self, mine: &[u8]) -> Result<Vec<Vec<u8>>, GatherError> {
        self.round += 1;
        let key = format!("topobroker.cluster.{}", self.round);
        let name = CString::new(key.as_str()).unwrap_or_default();
        // Not all versions hand over an object of no bytes, so each has one more.
        let mut sent = mine.to_vec();
        sent.push(0);
        let bytes = Bytes { bytes: sent.as_ptr().cast(), size: sent.len() };
        let mut value = GivenValue::new(BYTE_OBJECT, Data { bytes });
        // SAFETY: the name ends with a zero, and the value's bytes live until the call returns.
        // PMIx copies them.
        let status = unsafe { (self.put)(GLOBAL, name.as_ptr(), &raw mut value) };
        self.check("PMIx_Put", status)?;
        // SAFETY: the call has no arguments, and PMIx is initialised.
        self.check("PMIx_Commit", unsafe { (self.commit)() })?;
        let collect = Info::is_true("pmix.collect");
        let all = Process { rank: WILDCARD, ..self.me };
        // SAFETY: both pointers are to values that live until the call returns; `collect` is a
        // `pmix_info_t` with more room than any version takes.
        let status = unsafe { (self.fence)(&raw const all, 1, &raw const collect, 1) };
        self.check("PMIx_Fence", status)?;
        let of = |rank: u32| {
            self.value(&Process { rank, ..self.me }, &key, |value| {
                if value.kind != BYTE_OBJECT {
                    return None;
                }
                // SAFETY: a value of this type holds a pointer to so many bytes.
                let Bytes { bytes, size } = unsafe { value.data.bytes };
                let (_, sent) = (!bytes.is_null() && size > 0)
                    // SAFETY: as above; the pointer is not NULL.
                    .then(|| unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) })?
                    .split_last()?;
                Some(sent.to_vec())
            })
        };
        (0..self.size).map(of).collect()
    }
}

impl Drop for PmixExchange {
    fn drop(&mut self) {
        // SAFETY: PMIx is initialised, and nothing of it is used after this.
        unsafe { (self.finalize)(std::ptr::null(), 0) };
    }
}

fn message(text: Text, status: c_int) -> String {
    // SAFETY: the function takes any number.
    let found = unsafe { text(status) };
    if found.is_null() {
        return format!("status {status}");
    }
    // SAFETY: the pointer is not NULL, so it is to a string that ends with a zero and is never
    // freed.
    unsafe { CStr::from_ptr(found) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    /// libpmix copies whole values, and looks behind the value of an info only where it has room.
    #[test]
    fn values_and_infos_have_the_room_that_the_headers_of_pmix_say() {
        let mut flags = Command::new("pkg-config");
        let Ok(flags) = flags.args(["--cflags", "pmix"]).output() else { return };
        if !flags.status.success() {
            return;
        }
        let rules = format!(
            "#include <pmix.h>\n#include <stddef.h>\n\
             _Static_assert(sizeof(pmix_value_t) <= {}, \"value\");\n\
             _Static_assert(sizeof(pmix_info_t) <= {}, \"info\");\n\
             _Static_assert(offsetof(pmix_value_t, data) == {}, \"data\");\n\
             _Static_assert(offsetof(pmix_info_t, value) == {}, \"value of an info\");\n",
            size_of::<GivenValue>(),
            size_of::<Info>(),
            std::mem::offset_of!(Value, data),
            std::mem::offset_of!(Info, value),
        );
        let mut compiler = Command::new("cc");
        compiler.args(["-fsyntax-only", "-x", "c", "-"]).stdin(Stdio::piped());
        compiler.args(String::from_utf8(flags.stdout).unwrap().split_ascii_whitespace());
        let mut compiler = compiler.spawn().unwrap();
        compiler.stdin.take().unwrap().write_all(rules.as_bytes()).unwrap();
        assert!(compiler.wait().unwrap().success());
    }
}
