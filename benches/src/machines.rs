//! Machines to measure on.

use std::path::PathBuf;
use topobroker::hwloc::{HwlocTopology, Input, LoadOptions, load};
use topobroker_samples::{SYNTHETIC_256, SYNTHETIC_2048, shared_folder};

/// A machine with a short name.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Name in tables.
    pub name: String,
    /// Where it is loaded from.
    pub input: Input,
}

impl Machine {
    fn new(name: &str, input: Input) -> Self {
        Self { name: name.to_owned(), input }
    }

    fn synthetic(name: &str, text: &str) -> Self {
        Self::new(name, Input::Synthetic(text.to_owned()))
    }

    /// Loads the machine with all types of objects.
    pub fn load(&self) -> anyhow::Result<HwlocTopology<'static>> {
        Ok(load(&self.input, &LoadOptions::default())?)
    }
}

/// This machine, and synthetic ones of 256 and 2048 PUs.
pub fn standard() -> Vec<Machine> {
    vec![
        Machine::new("this machine", Input::ThisMachine),
        Machine::synthetic("synth256", SYNTHETIC_256),
        Machine::synthetic("synth2048", SYNTHETIC_2048),
    ]
}

/// A machine with `pus` PUs: each package has 64 of them, in four L3 caches of eight cores with two
/// PUs each.
pub fn growing(pus: u32) -> Machine {
    let text = format!("Package:{} NUMANode:1 L3Cache:4 L2Cache:8 Core:1 PU:2", pus / 64);
    Machine::synthetic(&format!("{pus} PUs"), &text)
}

/// All reference topologies, sorted by file name.
pub fn shared() -> Vec<Machine> {
    let Some(folder) = shared_folder() else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join("topologies"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "xml"))
        .collect();
    files.sort();
    let machines = files.into_iter().map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Machine::new(&name, Input::Xml(path))
    });
    machines.collect()
}

/// Two different reference machines: one with 96 PUs and many devices, and one with 176 PUs in a
/// cloud.
pub fn two_real() -> Vec<Machine> {
    const NAMES: [&str; 2] = ["v2.9__96em64t-4n4d3ca2co-pci", "openpmix__test-topo"];
    let mut all = shared();
    all.retain(|machine| NAMES.iter().any(|name| machine.name.ends_with(name)));
    all
}

/// The `count` largest reference topologies that this hwloc loads, by file size.
pub fn largest_shared(count: usize) -> Vec<Machine> {
    let mut machines = shared();
    machines.retain(|machine| machine.load().is_ok());
    let size = |machine: &Machine| match &machine.input {
        Input::Xml(path) => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
        _ => 0,
    };
    machines.sort_by_key(|machine| std::cmp::Reverse(size(machine)));
    machines.truncate(count);
    machines
}
