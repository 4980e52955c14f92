//! Statuses that functions return, and the version of the library.

use core::ffi::c_char;

/// Status of a call: 0, or a negative number for the kind of failure. tb_error_detail returns a
/// message with the details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C)]
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
    /// A fault of this library. The call changed nothing. Only libtopobroker returns it: a fault of
    /// libtopobroker-reader ends the process with a line on the error output.
    TB_ERR_INTERNAL = -20,
    /// This thread is adopting already: the caller is a signal handler that has interrupted it.
    TB_ERR_BUSY = -21,
    /// The object is on another node of the cluster, or has no PUs: it cannot be bound to.
    TB_ERR_REMOTE = -22,
    /// The kernel does not bind the process, or its memory, as asked.
    TB_ERR_BIND = -23,
}

impl tb_status {
    /// All statuses.
    pub const ALL: [Self; 24] = [
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
        Self::TB_ERR_REMOTE,
        Self::TB_ERR_BIND,
    ];
}

/// The words for each status, from 0 downwards, and for numbers that are none. One text and not
/// many, because the loader writes to each pointer that a library holds, in every process.
const WORDS: &str = "\
success\0\
argument is NULL, out of range or an id of nothing\0\
there is no such thing\0\
the buffer is too small\0\
malformed text\0\
keys of the segment are missing or malformed\0\
the segment cannot be opened\0\
the file of the segment is not to be trusted\0\
the file is no sound segment\0\
the segment cannot be mapped\0\
another topology is adopted already\0\
the topology cannot be restricted so\0\
the PUs of this process cannot be found out\0\
the job cannot be added, found or adopted\0\
the topology cannot be loaded\0\
the segment cannot be written or removed\0\
no room for the segment\0\
the ranks cannot be placed so\0\
the hwloc segment cannot be written or adopted\0\
libpmix is not there or refuses\0\
fault of topobroker\0\
called by a signal handler that interrupts an adoption\0\
the object is on another node\0\
the kernel does not bind so\0\
unknown status\0";

/// A status in words; "unknown status" for a number that is no status. The text is valid for the
/// life of the process.
#[unsafe(no_mangle)]
pub extern "C" fn tb_strerror(status: i32) -> *const c_char {
    let known = status.checked_neg().and_then(|number| usize::try_from(number).ok());
    let known = known.unwrap_or(usize::MAX).min(tb_status::ALL.len());
    let words = WORDS.split_inclusive('\0').nth(known).unwrap_or("\0");
    words.as_ptr().cast()
}

/// Version of the library: 0x010000 is 1.0.0.
#[unsafe(no_mangle)]
pub extern "C" fn tb_version() -> u32 {
    let part = |text: &str| text.parse().unwrap_or(0_u32);
    part(env!("CARGO_PKG_VERSION_MAJOR")) << 16
        | part(env!("CARGO_PKG_VERSION_MINOR")) << 8
        | part(env!("CARGO_PKG_VERSION_PATCH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_words_at_the_place_of_its_number() {
        assert_eq!(WORDS.split_terminator('\0').count(), tb_status::ALL.len() + 1);
        for (place, status) in tb_status::ALL.into_iter().enumerate() {
            assert_eq!(-(status as i32), i32::try_from(place).unwrap());
        }
    }
}
