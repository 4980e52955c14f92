//! Statuses that functions return, and the version of the library.

use std::ffi::{CStr, c_char};

/// Status of a call: 0, or a negative number for the kind of failure. tb_error_detail returns a
/// message with the details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum tb_status {
    /// Success.
    TB_OK = 0,
    /// An argument is NULL, out of range, or a number that no object has.
    TB_ERR_ARGUMENT = -1,
    /// The requested thing does not exist.
    TB_ERR_NOT_FOUND = -2,
    /// The buffer is too small. If the function has an argument `length` that is not NULL, it is
    /// set to the length of the text.
    TB_ERR_TRUNCATED = -3,
    /// A text is malformed.
    TB_ERR_TEXT = -4,
    /// The process has no keys of a segment, or one of them is malformed.
    TB_ERR_KEYS = -5,
    /// The segment's file cannot be opened.
    TB_ERR_OPEN = -6,
    /// The file is not to be trusted because of its kind, owner, mode or seals.
    TB_ERR_TRUST = -7,
    /// The file is not a valid segment, or not the segment that its keys describe.
    TB_ERR_SEGMENT = -8,
    /// The kernel refuses to map the segment.
    TB_ERR_MAP = -9,
    /// This process has adopted another topology. A process adopts one topology for life.
    TB_ERR_DIFFERENT = -10,
    /// The topology cannot be restricted as asked: nothing would be left, or the flags do not go
    /// together.
    TB_ERR_RESTRICT = -11,
    /// A source of the PUs of this process cannot be read, is malformed, or names PUs that the
    /// topology lacks.
    TB_ERR_SOURCE = -12,
    /// A job cannot be added, found or adopted.
    TB_ERR_JOB = -13,
    /// hwloc cannot load the input, or the loaded topology cannot be captured.
    TB_ERR_LOAD = -14,
    /// The segment cannot be written or removed.
    TB_ERR_PUBLISH = -15,
    /// There is no room for the segment.
    TB_ERR_FULL = -16,
    /// The ranks cannot be placed as asked.
    TB_ERR_PLACEMENT = -17,
    /// The hwloc segment cannot be written or adopted.
    TB_ERR_HWLOC = -18,
    /// libpmix is not available, or refuses.
    TB_ERR_PMIX = -19,
    /// A fault of this library. The call changed nothing.
    TB_ERR_INTERNAL = -20,
    /// This thread is adopting already: the caller is a signal handler that has interrupted it.
    TB_ERR_BUSY = -21,
}

impl tb_status {
    /// All statuses.
    pub const ALL: [Self; 22] = [
        Self::TB_OK,
        Self::TB_ERR_ARGUMENT,
        Self::TB_ERR_NOT_FOUND,
        Self::TB_ERR_TRUNCATED,
        Self::TB_ERR_TEXT,
        Self::TB_ERR_KEYS,
        Self::TB_ERR_OPEN,
        Self::TB_ERR_TRUST,
        Self::TB_ERR_SEGMENT,
        Self::TB_ERR_MAP,
        Self::TB_ERR_DIFFERENT,
        Self::TB_ERR_RESTRICT,
        Self::TB_ERR_SOURCE,
        Self::TB_ERR_JOB,
        Self::TB_ERR_LOAD,
        Self::TB_ERR_PUBLISH,
        Self::TB_ERR_FULL,
        Self::TB_ERR_PLACEMENT,
        Self::TB_ERR_HWLOC,
        Self::TB_ERR_PMIX,
        Self::TB_ERR_INTERNAL,
        Self::TB_ERR_BUSY,
    ];

    const fn text(self) -> &'static CStr {
        match self {
            Self::TB_OK => c"success",
            Self::TB_ERR_ARGUMENT => c"argument is NULL, out of range or an id of nothing",
            Self::TB_ERR_NOT_FOUND => c"there is no such thing",
            Self::TB_ERR_TRUNCATED => c"the buffer is too small",
            Self::TB_ERR_TEXT => c"malformed text",
            Self::TB_ERR_KEYS => c"keys of the segment are missing or malformed",
            Self::TB_ERR_OPEN => c"the segment cannot be opened",
            Self::TB_ERR_TRUST => c"the file of the segment is not to be trusted",
            Self::TB_ERR_SEGMENT => c"the file is no sound segment",
            Self::TB_ERR_MAP => c"the segment cannot be mapped",
            Self::TB_ERR_DIFFERENT => c"another topology is adopted already",
            Self::TB_ERR_RESTRICT => c"the topology cannot be restricted so",
            Self::TB_ERR_SOURCE => c"the PUs of this process cannot be found out",
            Self::TB_ERR_JOB => c"the job cannot be added, found or adopted",
            Self::TB_ERR_LOAD => c"the topology cannot be loaded",
            Self::TB_ERR_PUBLISH => c"the segment cannot be written or removed",
            Self::TB_ERR_FULL => c"no room for the segment",
            Self::TB_ERR_PLACEMENT => c"the ranks cannot be placed so",
            Self::TB_ERR_HWLOC => c"the hwloc segment cannot be written or adopted",
            Self::TB_ERR_PMIX => c"libpmix is not there or refuses",
            Self::TB_ERR_INTERNAL => c"fault of topobroker",
            Self::TB_ERR_BUSY => c"called by a signal handler that interrupts an adoption",
        }
    }
}

/// A status in words; "unknown status" for a number that is no status. The text is valid for the
/// life of the process.
#[unsafe(no_mangle)]
pub extern "C" fn tb_strerror(status: i32) -> *const c_char {
    let known = tb_status::ALL.into_iter().find(|known| *known as i32 == status);
    known.map_or(c"unknown status", tb_status::text).as_ptr()
}

/// Version of the library: 0x000100 is 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn tb_version() -> u32 {
    let part = |text: &str| text.parse().unwrap_or(0_u32);
    part(env!("CARGO_PKG_VERSION_MAJOR")) << 16
        | part(env!("CARGO_PKG_VERSION_MINOR")) << 8
        | part(env!("CARGO_PKG_VERSION_PATCH"))
}
