//! The report of an audit: the hwloc topologies that the processes of a command made, read from the
//! notes of the audit library and summed up.

use crate::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

/// Environment variable that names the folder into which processes write their notes.
pub const FOLDER_VARIABLE: &str = "TOPOBROKER_AUDIT";

/// Private memory of a process that adopts a shared topology, in bytes: the page with its handle.
const PRIVATE_BYTES: i64 = 4096;

/// One call of an hwloc function that makes a topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// `load`, `set_xml`, `set_xmlbuffer`, `adopt` or `dup`.
    pub name: String,
    /// The library, or program, that called.
    pub library: PathBuf,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Bytes of heap that it kept; negative if it gave heap back.
    pub kept: i64,
    /// Whether the topology was destroyed later, and the heap given back.
    pub destroyed: bool,
    /// Whether hwloc returned an error.
    pub failed: bool,
    /// For a load, what the program had asked for, as `--guard-load` takes it; otherwise empty.
    pub load: String,
    /// For a load, what the hwloc guard did or would have done, and why; otherwise empty.
    pub guard: String,
}

/// The calls of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its pid.
    pub pid: u32,
    /// Its program.
    pub program: PathBuf,
    /// Its calls, in order.
    pub calls: Vec<Call>,
    /// The most bytes of heap that its loaded topologies took at once. Heap that an import takes
    /// and loading gives back is not counted. A topology that is never loaded counts at the end of
    /// the process.
    pub kept: i64,
    /// Files that it had loaded and that contain a copy of hwloc, whose calls are not seen.
    pub embedded: Vec<PathBuf>,
}

/// The calls of all processes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Audit {
    /// The processes that made a topology, or that may have made one with a copy of hwloc inside a
    /// library, sorted by pid.
    pub processes: Vec<Process>,
}

impl Audit {
    /// Reads the notes in a folder.
    ///
    /// # Errors
    ///
    /// If the folder or a file in it cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut processes = Vec::new();
        let mut embedding = Embedding::default();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
                let notes = std::fs::read_to_string(entry.path())?;
                processes.push(process(pid, &notes, |file| embedding.is_in(file)));
            }
        }
        processes.retain(|process| !process.calls.is_empty() || !process.embedded.is_empty());
        processes.sort_by_key(|process| process.pid);
        Ok(Self { processes })
    }

    /// Time of all calls, in microseconds.
    #[must_use]
    pub fn micros(&self) -> u64 {
        self.calls().map(|call| call.micros).sum()
    }

    /// Heap that topologies took in all processes, in bytes: the sum of [`Process::kept`].
    #[must_use]
    pub fn kept(&self) -> i64 {
        self.processes.iter().map(|process| process.kept).sum()
    }

    /// Heap that sharing one topology would save, in bytes: the heap that was kept, minus the one
    /// page that each process writes when it adopts.
    #[must_use]
    pub fn saved(&self) -> i64 {
        let made = self.processes.iter().filter(|process| !process.calls.is_empty()).count();
        let own = i64::try_from(made).unwrap_or(0) * PRIVATE_BYTES;
        (self.kept() - own).max(0)
    }

    /// Libraries and programs that contain a copy of hwloc, whose calls are not seen.
    #[must_use]
    pub fn embedded(&self) -> BTreeSet<&Path> {
        let files = self.processes.iter().flat_map(|process| &process.embedded);
        files.map(PathBuf::as_path).collect()
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.processes.iter().flat_map(|process| &process.calls)
    }

    /// The audit as text: a line for each call, and the sums.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for process in &self.processes {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "process {}: {}", process.pid, process.program.display());
            for file in &process.embedded {
                let _ = writeln!(text, "  hwloc inside {}", file.display());
            }
            for call in &process.calls {
                let fate = match (call.failed, call.destroyed) {
                    (true, _) => ", failed",
                    (_, true) => ", destroyed later",
                    _ => "",
                };
                let _ = writeln!(
                    text,
                    "  {:13} {:>9} ms {:>10} bytes  {}{fate}",
                    call.name,
                    milliseconds(call.micros),
                    call.kept,
                    call.library.display(),
                );
                if !call.guard.is_empty() {
                    let _ = writeln!(text, "      load {}: {}", call.load, call.guard);
                }
            }
        }
        let (processes, calls) = (self.processes.len(), self.calls().count());
        let embedded = self.embedded();
        for file in &embedded {
            let _ = writeln!(
                text,
                "{}: has an hwloc inside, whose calls cannot be seen: the sums below are without \
                 them",
                file.display()
            );
        }
        let _ = writeln!(
            text,
            "{processes} processes made {calls} calls: {} ms, {} bytes of heap kept; sharing one \
             topology would save {} bytes",
            milliseconds(self.micros()),
            self.kept(),
            self.saved(),
        );
        text
    }

    /// The audit as a JSON document.
    ///
    /// # Errors
    ///
    /// None that is known.
    pub fn to_json(&self) -> anyhow::Result<String> {
        json::text(&json::Audit {
            processes: self.processes.iter().map(Process::described).collect(),
            microseconds: self.micros(),
            bytes_kept: self.kept(),
            bytes_saved_by_sharing: self.saved(),
            hwloc_inside: paths(&mut self.embedded().into_iter()),
        })
    }
}

impl Process {
    fn described(&self) -> json::ProcessOfAudit<'_> {
        json::ProcessOfAudit {
            pid: self.pid,
            program: self.program.to_string_lossy().into_owned(),
            calls: self.calls.iter().map(Call::described).collect(),
            hwloc_inside: paths(&mut self.embedded.iter().map(PathBuf::as_path)),
        }
    }
}

impl Call {
    fn described(&self) -> json::Call<'_> {
        json::Call {
            call: &self.name,
            library: self.library.to_string_lossy().into_owned(),
            microseconds: self.micros,
            bytes: self.kept,
            destroyed: self.destroyed,
            failed: self.failed,
            load: &self.load,
            guard: &self.guard,
        }
    }
}

fn milliseconds(micros: u64) -> String {
    format!("{}.{:03}", micros / 1000, micros % 1000)
}

fn paths(files: &mut dyn Iterator<Item = &Path>) -> Vec<String> {
    files.map(|file| file.to_string_lossy().into_owned()).collect()
}

/// A cache of which files contain a copy of hwloc, because they were built with its sources.
#[derive(Default)]
struct Embedding {
    known: BTreeMap<PathBuf, bool>,
}

impl Embedding {
    fn is_in(&mut self, file: &Path) -> bool {
        *self.known.entry(file.to_owned()).or_insert_with(|| embeds(file))
    }
}

/// Whether a file that is neither hwloc's nor topobroker's own contains a copy of hwloc. The mark
/// of a copy is the name of the environment variable from which hwloc takes the root of a file
/// system: only hwloc's sources have it.
fn embeds(file: &Path) -> bool {
    const INSIDE: &[u8] = b"HWLOC_FSROOT\0";
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_hwlocs = name.starts_with("libhwloc") || name.starts_with("hwloc_");
    let is_ours = name.starts_with("topobroker") || name.starts_with("libtopobroker");
    !is_hwlocs && !is_ours && std::fs::read(file).is_ok_and(|bytes| has(&bytes, INSIDE))
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Reads the notes of a process. A line that was cut off by the end of the process is left out.
fn process(pid: u32, notes: &str, mut embeds: impl FnMut(&Path) -> bool) -> Process {
    let mut process =
        Process { pid, program: PathBuf::new(), calls: Vec::new(), kept: 0, embedded: Vec::new() };
    // For each topology that is not destroyed yet: its calls, its heap, and whether it is loaded.
    let mut made: BTreeMap<&str, (Vec<usize>, i64, bool)> = BTreeMap::new();
    for line in notes.lines() {
        if let Some(loaded) = line.strip_prefix("loaded\t") {
            let files: BTreeSet<&Path> = loaded.split('\t').map(Path::new).collect();
            process.program = loaded.split('\t').next().unwrap_or_default().into();
            let embedded = files.into_iter().filter(|file| embeds(file));
            process.embedded = embedded.map(Path::to_owned).collect();
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, library, micros, kept, topology, result, program, ref load @ ..] = fields[..]
        else {
            continue;
        };
        let [load, guard] = [0, 1].map(|field| load.get(field).copied().unwrap_or_default());
        process.program = PathBuf::from(program);
        if name == "destroy" {
            for at in made.remove(topology).unwrap_or_default().0 {
                process.calls.iter_mut().skip(at).take(1).for_each(|call| call.destroyed = true);
            }
            continue;
        }
        let kept: i64 = kept.parse().unwrap_or(0);
        let (calls, heap, is_loaded) = made.entry(topology).or_default();
        calls.push(process.calls.len());
        *heap += kept;
        *is_loaded |= !name.starts_with("set_");
        let loaded = made.values().filter(|(_, _, is_loaded)| *is_loaded);
        let now = loaded.map(|(_, heap, _)| (*heap).max(0)).sum();
        process.kept = process.kept.max(now);
        process.calls.push(Call {
            name: name.to_owned(),
            library: PathBuf::from(library),
            micros: micros.parse().unwrap_or(0),
            kept,
            destroyed: false,
            failed: result != "0",
            load: load.to_owned(),
            guard: guard.to_owned(),
        });
    }
    let left = made.values().map(|(_, heap, _)| (*heap).max(0)).sum();
    process.kept = process.kept.max(left);
    process
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_destroyed_is_not_kept_and_a_line_that_was_cut_is_left_out() {
        let notes = "set_xml\t/l/a.so\t1500\t1900\t0x1\t0\t/bin/p\n\
                     load\t/l/a.so\t2500\t-900\t0x1\t0\t/bin/p\n\
                     load\t/l/b.so\t40\t700000\t0x2\t0\t/bin/p\n\
                     destroy\t/l/a.so\t40\t-1000\t0x1\t0\t/bin/p\n\
                     load\t/l/a.so\t10\t5000\t0x1\t0\t/bin/p\n\
                     adopt\t/l/c.so\t3\t0\t0x3\t-1\t/bin/p\n\
                     load\t/l/b.so\t4";
        let audit = Audit { processes: vec![process(7, notes, |_| false)] };
        let calls = &audit.processes[0].calls;
        let fates: Vec<_> = calls.iter().map(|call| (call.destroyed, call.failed)).collect();
        assert_eq!(
            fates,
            [(true, false), (true, false), (false, false), (false, false), (false, true)]
        );
        assert_eq!((audit.kept(), audit.micros()), (705_000, 4053));
        assert_eq!(audit.saved(), 705_000 - 4096);
        assert!(audit.to_text().contains("2.500 ms       -900 bytes  /l/a.so, destroyed later"));
        let json: serde_json::Value = serde_json::from_str(&audit.to_json().unwrap()).unwrap();
        assert_eq!(json["processes"][0]["calls"][2]["library"], "/l/b.so");
    }

    #[test]
    fn what_loading_gives_back_of_an_import_is_not_kept() {
        let notes = "set_xmlbuffer\t/l/a.so\t1\t81344\t0x1\t0\t/bin/p\n\
                     load\t/l/a.so\t1\t-62336\t0x1\t0\t/bin/p\n";
        assert_eq!(process(7, notes, |_| false).kept, 19_008);
        let unloaded = notes.lines().next().unwrap();
        assert_eq!(process(7, unloaded, |_| false).kept, 81_344);
    }

    #[test]
    fn a_library_with_an_hwloc_inside_is_named() {
        let notes = "loaded\t/bin/rank\t/lib/libc.so.6\t/wheel/libmpi.so.12\n";
        let process = process(7, notes, |file| file.starts_with("/wheel"));
        assert_eq!(process.embedded, [Path::new("/wheel/libmpi.so.12")]);
        let text = Audit { processes: vec![process] }.to_text();
        assert!(text.contains("/wheel/libmpi.so.12: has an hwloc inside"), "{text}");
        assert!(has(b"..HWLOC_FSROOT\0", b"HWLOC_FSROOT\0") && !has(b"HWLOC", b"HWLOC_FSROOT\0"));
    }
}
