//! What tests, benchmarks and fuzz targets run on, and the daemon that tests start.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say so by failing")]
#![allow(clippy::new_without_default, reason = "what is made has files; it fails as tests do")]

mod daemon;
mod golden_maps;
pub mod jobs;
pub mod json_schema;
pub mod made_cgroup;
pub mod made_nodes;
pub mod nvidia_driver;
mod reference;
pub mod saved_root;

pub use daemon::Daemon;
pub use golden_maps::{GoldenMap, golden_maps, golden_pus};
pub use reference::{Machine, Row, machines, refused_machines, rows, shared, shared_folder, words};

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};
use topobroker::hwloc::{HwlocTopology, Input, LoadOptions, capture, load};
use topobroker_layout::description::Description;
use topobroker_layout::encode::{AlignedVec, to_bytes};
use topobroker_reader::{Archive, Topology};

/// 256 PUs, 691 objects.
pub const SYNTHETIC_256: &str =
    "Package:2 Group:4 NUMANode:1 L3Cache:4 L2Cache:4 L1dCache:1 Core:1 PU:2";

/// 2048 PUs, 3681 objects.
pub const SYNTHETIC_2048: &str = "Package:16 NUMANode:1 L3Cache:4 L2Cache:8 L1dCache:1 Core:1 PU:4";

/// Folder of the checkout.
pub fn checkout() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Keeps hwloc's plugins loaded until the process ends. hwloc loads them for each topology of a
/// process that has no other one, which takes longer than most of what tests ask.
fn keep_plugins() {
    static KEPT: Once = Once::new();
    KEPT.call_once(|| {
        let topology = load(&Input::Synthetic("PU:1".to_owned()), &LoadOptions::default());
        std::mem::forget(topology.unwrap());
    });
}

/// Loads an input with hwloc, without filtering out any object.
pub fn loaded(input: &Input) -> HwlocTopology<'static> {
    keep_plugins();
    load(input, &LoadOptions::default()).expect("a topology that hwloc loads")
}

/// Loads an input without filtering out any object, and describes it.
pub fn describe(input: &Input) -> Description {
    capture(&loaded(input)).expect("a topology that can be captured")
}

/// The archive of an XML file.
pub fn archived(xml: impl Into<PathBuf>) -> AlignedVec {
    to_bytes(&describe(&Input::Xml(xml.into()))).expect("a topology that can be encoded")
}

/// The topology of a description, for as long as the test runs.
pub fn topology_of(described: &Description) -> Topology<'static> {
    let archive: &'static AlignedVec = Box::leak(Box::new(to_bytes(described).unwrap()));
    Box::leak(Box::new(Archive::open(archive).unwrap())).topology()
}

/// The topology of an XML file, for as long as the test runs.
pub fn topology_of_xml(xml: impl Into<PathBuf>) -> Topology<'static> {
    topology_of(&describe(&Input::Xml(xml.into())))
}

/// Describes a synthetic machine.
pub fn synthetic(text: &str) -> Description {
    describe(&Input::Synthetic(text.to_owned()))
}

/// Folder for what tests keep from one run to the next, below the target folder.
pub fn temporary() -> PathBuf {
    let test = std::env::current_exe().expect("the file of the test");
    let folder = test.parent().expect("its folder").join("../../tmp");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.canonicalize().expect("the folder")
}

/// Waits until something holds, for 30 s at most.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(30), "not within 30 s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Says that the running test is skipped, and why, because a test runner counts the test as passed:
/// in the file that `TOPOBROKER_SKIPPED` names, otherwise where the runner writes, which keeps to
/// itself what a test that passes prints.
pub fn skip(why: std::fmt::Arguments<'_>) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("skipped: {why}");
    let append = |file: &Path| std::fs::OpenOptions::new().append(true).create(true).open(file);
    // One write for each line, because tests run at the same time.
    if let Some(file) = std::env::var_os("TOPOBROKER_SKIPPED") {
        let line = format!("{test}: {why}\n");
        append(file.as_ref()).expect("the file").write_all(line.as_bytes()).expect("a line");
    } else {
        let runner = format!("/proc/{}/fd/2", std::os::unix::process::parent_id());
        let line = format!("skipped: {test}: {why}\n");
        let _ = append(runner.as_ref()).and_then(|mut file| file.write_all(line.as_bytes()));
    }
}
