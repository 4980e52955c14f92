//! Notes for `topobroker audit`: the file `PID` in the folder that `TOPOBROKER_AUDIT` names, with
//! one line for each call. The fields of a line are separated by tabs: call, library, microseconds,
//! bytes of heap kept, topology, result, program; for a load also its key, and what the guard did.
//! At its end the process adds a line `loaded`, with the program and the files that it had loaded.
//!
//! The process itself is not disturbed: if a note cannot be written, it is left out without a
//! message.

use crate::call::{Call, errno, set_errno};
use crate::fate::Fate;
use crate::heap;
use crate::hwloc::Topology;
use crate::settings::audit_folder;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_int;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::time::{ClockId, clock_gettime};
use topobroker_slots::LoadKey;

/// Does the work of a call, and notes it if somebody audits. `topology` returns the topology of the
/// call from its result.
pub(crate) fn noted(
    call: &Call,
    name: &str,
    topology: impl FnOnce(c_int) -> Topology,
    work: impl FnOnce() -> c_int,
) -> c_int {
    noted_with(call, name, topology, || (work(), String::new()))
}

/// Does the work of a load, and notes it if somebody audits.
pub(crate) fn noted_load(
    call: &Call,
    topology: Topology,
    key: Option<LoadKey>,
    work: impl FnOnce() -> (c_int, Fate),
) -> c_int {
    noted_with(
        call,
        "load",
        |_| topology,
        || {
            let (result, fate) = work();
            let text =
                || format!("\t{}\t{fate}", key.map_or(String::new(), |key| format!("{key}")));
            (result, audit_folder().map_or_else(String::new, |_| text()))
        },
    )
}

fn noted_with(
    call: &Call,
    name: &str,
    topology: impl FnOnce(c_int) -> Topology,
    work: impl FnOnce() -> (c_int, String),
) -> c_int {
    if audit_folder().is_none() || call.is_inner() {
        return work().0;
    }
    let (heap, start) = (heap::in_use(), microseconds());
    let (result, more) = work();
    // Keeps hwloc's errno for the caller, because writing the note may change it.
    let error = errno();
    let (time, kept) = (microseconds() - start, heap::in_use() - heap);
    let library = call.by.file.map_or(Cow::Borrowed("?"), |file| file.to_string_lossy());
    let (topology, program) = (topology(result).addr(), program());
    append(&format!(
        "{name}\t{library}\t{time}\t{kept}\t{topology:#x}\t{result}\t{program}{more}\n"
    ));
    set_errno(error);
    result
}

/// Writes the line of the loaded files.
pub(crate) fn note_loaded(files: &[Cow<'_, str>]) {
    let files = files.iter().filter(|file| file.starts_with('/'));
    let files: String = files.map(|file| format!("\t{file}")).collect();
    append(&format!("loaded\t{}{files}\n", program()));
}

fn microseconds() -> i64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

fn program() -> String {
    let link = rustix::fs::readlinkat(CWD, "/proc/self/exe", Vec::new());
    link.map_or_else(|_| String::new(), |link| link.to_string_lossy().into_owned())
}

/// Appends a line with one write, so that lines of several threads stay whole.
fn append(line: &str) {
    let Some(folder) = audit_folder() else { return };
    let pid = rustix::process::getpid().as_raw_nonzero();
    let path = format!("{}/{pid}", folder.to_string_lossy());
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
    if let Ok(file) = rustix::fs::open(path, flags, Mode::from_raw_mode(0o666)) {
        // A process that may not write there is not counted.
        let _ = rustix::io::write(&file, line.as_bytes());
    }
}
