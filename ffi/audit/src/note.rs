//! The notes of a process: the file `PID` in the folder, with one line for each call. The fields of
//! a line are separated by tabs: call, library, microseconds, bytes of heap kept, topology, result,
//! program. At its end the process adds a line `loaded`, with the program and the files that it had
//! loaded.

use std::ffi::c_int;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Environment variable that names the folder.
const FOLDER: &str = "TOPOBROKER_AUDIT";

/// A call that has returned.
pub(crate) struct Event {
    pub(crate) name: &'static str,
    /// The library or program that called.
    pub(crate) library: String,
    pub(crate) time: Duration,
    pub(crate) kept: i64,
    pub(crate) topology: usize,
    pub(crate) result: c_int,
}

/// Writes the line of a call.
pub(crate) fn note(event: &Event) {
    let Event { name, library, time, kept, topology, result } = event;
    let (micros, program) = (time.as_micros(), program());
    append(&format!("{name}\t{library}\t{micros}\t{kept}\t{topology:#x}\t{result}\t{program}\n"));
}

/// Writes the line of the loaded files.
pub(crate) fn note_loaded(files: &[String]) {
    let files = files.iter().filter(|file| file.starts_with('/'));
    let files: String = files.map(|file| format!("\t{file}")).collect();
    append(&format!("loaded\t{}{files}\n", program()));
}

fn program() -> String {
    std::fs::read_link("/proc/self/exe").unwrap_or_default().to_string_lossy().into_owned()
}

/// Appends a line with one write, so that lines of several threads stay whole.
fn append(line: &str) {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let file = Path::new(&folder).join(std::process::id().to_string());
    // A process that may not write there is not counted.
    let _ = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .and_then(|mut file| file.write_all(line.as_bytes()));
}
