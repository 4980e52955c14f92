//! Metrics of the daemon: a file in the text format of Prometheus, for the textfile collector of
//! node_exporter.

use super::journal::{self, Priority};
use super::whole_file::WholeFile;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use topobroker::hwloc::library_version;
use topobroker::node::status::{self, Published};
use topobroker::publish::legacy::HWLOC_ENDING;
use topobroker_slots::SLOTS_ENDING;

/// What has happened since the daemon began.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) publications: u64,
    pub(super) failures: u64,
    /// How often files of the folder had been removed.
    pub(super) repairs: u64,
    /// How often the machine was looked at in full.
    pub(super) looks: u64,
    pub(super) objects: usize,
}

/// The metrics of a daemon.
pub(super) struct Metrics {
    folder: PathBuf,
    file: WholeFile,
    /// Whether the file could not be written last time: that is said once.
    is_failing: bool,
    /// The segments, and when they were listed: to count who maps them is work in proportion to all
    /// processes of the node.
    listed: Option<(Instant, Vec<Published>)>,
}

/// How long a list of segments is used again.
const OLD: Duration = Duration::from_secs(30);

impl Metrics {
    pub(super) fn new(folder: &Path, file: &Path) -> Self {
        let file = WholeFile::new(file);
        Self { folder: folder.to_owned(), file, is_failing: false, listed: None }
    }

    /// Lists the segments again, because something has happened, and writes the file.
    pub(super) fn write_anew(&mut self, counts: Counts) {
        self.listed = None;
        self.write(counts);
    }

    /// Writes the file.
    pub(super) fn write(&mut self, counts: Counts) {
        let text = self.text(counts);
        let written = self.file.replace(text.as_bytes());
        let was_failing = std::mem::replace(&mut self.is_failing, written.is_err());
        if let Err(error) = written
            && !was_failing
        {
            let message = {
                let file = self.file.path().display();
                format!("{file}: the metrics are not written: {error}")
            };
            journal::say(Priority::Error, &message, &[]);
        }
    }

    /// Removes the file.
    pub(super) fn end(&self) {
        self.file.remove();
    }

    /// The metrics in the text format of Prometheus, which knows no `# UNIT`, no `info` and no
    /// `# EOF`.
    fn text(&mut self, counts: Counts) -> String {
        let is_new = self.listed.as_ref().is_some_and(|(when, _)| when.elapsed() < OLD);
        if !is_new {
            let all = status::published(std::slice::from_ref(&self.folder)).unwrap_or_default();
            let own = all.into_iter().filter(|it| it.file.parent() == Some(&self.folder));
            self.listed = Some((Instant::now(), own.collect()));
        }
        let segments = self.listed.as_ref().map_or(&[][..], |(_, segments)| segments);
        text(counts, segments)
    }
}

fn text(counts: Counts, segments: &[Published]) -> String {
    let generation = |it: &Published| it.header.as_ref().map_or(0, |header| header.generation);
    let newest = segments.iter().max_by_key(|it| generation(it));
    let created = newest.and_then(|it| it.header.as_ref().ok()).map_or(0, |it| it.created);
    let files: Vec<PathBuf> = segments.iter().flat_map(Published::companion_files).collect();
    let ends_with =
        |ending: &str| files.iter().filter(|file| file.to_string_lossy().ends_with(ending)).count();
    let jobs: usize = segments.iter().map(|it| it.jobs().len()).sum();
    let mut out = String::new();
    let mut metric = |name: &str, help: &str, value: &dyn std::fmt::Display| {
        // In the name, by Prometheus' rules.
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        let _ = writeln!(out, "# HELP topobroker_{name} {help}\n# TYPE topobroker_{name} {kind}");
        let _ = writeln!(out, "topobroker_{name} {value}");
    };
    let size = newest.map_or(0, |it| it.size);
    let mapped: usize = segments.iter().map(|it| it.mapped_by.len()).sum();
    let seconds = Duration::from_nanos(created).as_secs();
    metric("publications_total", "Topologies that were published", &counts.publications);
    metric("looks_total", "Times that the machine was looked at in full", &counts.looks);
    metric("failures_total", "Times that looking or publishing failed", &counts.failures);
    metric(
        "repairs_total",
        "Times that files of the folder had been removed and were put back",
        &counts.repairs,
    );
    metric("generation", "Generation of the newest topology", &newest.map_or(0, generation));
    metric("published_timestamp_seconds", "When it was published", &seconds);
    metric("segment_bytes", "Size of its segment", &size);
    metric("objects", "Number of its objects", &counts.objects);
    metric("segments", "Generations that are still there", &segments.len());
    metric("adopters", "Processes that map one of them", &mapped);
    metric("jobs", "Jobs on them", &jobs);
    metric("legacy_segments", "hwloc segments of these topologies", &ends_with(HWLOC_ENDING));
    metric(
        "guard_slot_files",
        "Files of the hwloc guard's slots for these topologies",
        &ends_with(SLOTS_ENDING),
    );
    let versions =
        format!("version=\"{}\",hwloc=\"{}\"", env!("CARGO_PKG_VERSION"), library_version());
    let _ =
        writeln!(out, "# HELP topobroker_build_info Versions\n# TYPE topobroker_build_info gauge");
    let _ = writeln!(out, "topobroker_build_info{{{versions}}} 1");
    out
}
