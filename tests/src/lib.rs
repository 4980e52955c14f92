//! What the tests share: the reference data, and building a segment's parts.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use topobroker::capture::capture;
use topobroker::hwloc::{Input, LoadOptions, load};
use topobroker_benches::machines::shared_folder;
pub use topobroker_benches::machines::{SYNTHETIC_256, SYNTHETIC_2048};
use topobroker_layout::description::Description;

/// The folder of reference data, `None` with a line on standard error if it is not there.
#[must_use]
pub fn shared() -> Option<PathBuf> {
    let folder = shared_folder();
    if folder.is_none() {
        eprintln!("skipped: no reference data beside the checkout or in TOPOBROKER_SHARED");
    }
    folder
}

/// A file of the reference topologies.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The file.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Whether hwloc 2.9 loads it.
    pub loads: bool,
}

/// The reference topologies.
///
/// # Panics
///
/// If their index cannot be read.
#[must_use]
pub fn machines(shared: &Path) -> Vec<Machine> {
    let folder = shared.join("topologies");
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).expect("index of topologies");
    let rows: Vec<Vec<&str>> = index.lines().map(|line| line.split('\t').collect()).collect();
    let (header, rows) = rows.split_first().expect("a header line");
    let loads = header.iter().position(|name| *name == "loads_2.9.0").expect("its column");
    let machines = rows.iter().map(|row| {
        let name = row.first().copied().unwrap_or_default();
        Machine {
            path: folder.join(name),
            name: name.to_owned(),
            loads: row.get(loads) == Some(&"yes"),
        }
    });
    machines.collect()
}

/// Loads and describes an input with everything kept.
///
/// # Panics
///
/// If it cannot be loaded.
#[must_use]
pub fn describe(input: &Input) -> Description {
    let topology = load(input, &LoadOptions::default()).expect("a topology that hwloc loads");
    capture(&topology).expect("a topology that can be captured")
}

/// Describes a synthetic machine.
#[must_use]
pub fn synthetic(text: &str) -> Description {
    describe(&Input::Synthetic(text.to_owned()))
}
