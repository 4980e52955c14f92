//! What the daemon tells those who watch it: text of OpenMetrics, in a file for the textfile collector
//! of node_exporter, or on a socket.

use super::journal::{self, Priority};
use super::whole_file;
use anyhow::Context;
use parking_lot::Mutex;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use topobroker::hwloc::library_version;
use topobroker::node::status::{self, Published};
use topobroker::publish::legacy::HWLOC_ENDING;
use topobroker_slots::SLOTS_ENDING;

/// Where the text goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A file, which is replaced whole.
    File(PathBuf),
    /// A socket, which answers each connection as an HTTP server does.
    Socket(PathBuf),
}

impl Place {
    /// A place as users name it: a file, or `unix:` and a socket.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected FILE, or unix:SOCKET";
        match text.strip_prefix("unix:") {
            None if text.is_empty() => Err(EXPECTED.to_owned()),
            Some("") => Err(EXPECTED.to_owned()),
            Some(socket) => Ok(Self::Socket(socket.into())),
            None => Ok(Self::File(text.into())),
        }
    }
}

/// What has happened since the daemon began.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) publications: u64,
    pub(super) failures: u64,
    /// How often the machine was looked at in full.
    pub(super) looks: u64,
    pub(super) objects: usize,
}

/// The metrics of a daemon.
pub(super) struct Metrics {
    folder: PathBuf,
    place: Place,
    counts: Mutex<Counts>,
    /// Whether the file could not be written last time: that is said once.
    is_failing: AtomicBool,
    /// The segments, and when they were listed: to count who maps them is work in proportion to all
    /// processes of the node.
    listed: Mutex<Option<(Instant, Vec<Published>)>>,
}

/// How long a list of segments is used again.
const OLD: Duration = Duration::from_secs(30);

impl Metrics {
    /// Begins to tell. A socket is bound at once; a file is written by [`Metrics::tell`].
    pub(super) fn begin(folder: &Path, place: &Place) -> anyhow::Result<Arc<Self>> {
        let own = Arc::new(Self {
            folder: folder.to_owned(),
            place: place.clone(),
            counts: Mutex::default(),
            is_failing: AtomicBool::new(false),
            listed: Mutex::default(),
        });
        if let Place::Socket(socket) = place {
            let name = || format!("{}: the socket for metrics", socket.display());
            // What a killed daemon has left answers nobody.
            if UnixStream::connect(socket)
                .is_err_and(|it| it.kind() == io::ErrorKind::ConnectionRefused)
            {
                fs::remove_file(socket).with_context(name)?;
            }
            let listener = UnixListener::bind(socket).with_context(name)?;
            let answering = Arc::clone(&own);
            std::thread::spawn(move || {
                listener.incoming().flatten().for_each(|it| _ = answering.answer(it));
            });
        }
        Ok(own)
    }

    /// Notes what has happened, and tells it.
    pub(super) fn note(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock());
        *self.listed.lock() = None;
        self.tell();
    }

    /// Writes the file, if it is one.
    pub(super) fn tell(&self) {
        let Place::File(file) = &self.place else { return };
        let written = whole_file::replace(file, self.text().as_bytes());
        let was_failing = self.is_failing.swap(written.is_err(), Ordering::Relaxed);
        if let Err(error) = written
            && !was_failing
        {
            let message = format!("{}: the metrics are not written: {error}", file.display());
            journal::say(Priority::Error, &message, &[]);
        }
    }

    /// Removes the file or socket.
    pub(super) fn end(&self) {
        let (Place::File(path) | Place::Socket(path)) = &self.place;
        let _ = fs::remove_file(path);
    }

    fn answer(&self, mut stream: UnixStream) -> io::Result<()> {
        /// Whoever asks for longer is not waited for.
        const PATIENCE: Option<Duration> = Some(Duration::from_secs(2));
        stream.set_read_timeout(PATIENCE)?;
        stream.set_write_timeout(PATIENCE)?;
        let mut request = [0; 4096];
        let _ = stream.read(&mut request)?;
        let text = self.text();
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        let length = text.len();
        write!(
            stream,
            "HTTP/1.0 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{text}"
        )
    }

    /// The metrics as text of OpenMetrics 1.0.
    fn text(&self) -> String {
        let mut listed = self.listed.lock();
        let is_new = listed.as_ref().is_some_and(|(when, _)| when.elapsed() < OLD);
        if !is_new {
            let all = status::published(std::slice::from_ref(&self.folder)).unwrap_or_default();
            let own = all.into_iter().filter(|it| it.file.parent() == Some(&self.folder));
            *listed = Some((Instant::now(), own.collect()));
        }
        let segments = listed.as_ref().map_or(&[][..], |(_, segments)| segments);
        text(*self.counts.lock(), segments)
    }
}

fn text(counts: Counts, segments: &[Published]) -> String {
    let generation = |it: &Published| it.header.as_ref().map_or(0, |header| header.generation);
    let newest = segments.iter().max_by_key(|it| generation(it));
    let created = newest.and_then(|it| it.header.as_ref().ok()).map_or(0, |it| it.created);
    let beside: Vec<PathBuf> = segments.iter().flat_map(Published::files_beside).collect();
    let ends_with = |ending: &str| {
        beside.iter().filter(|file| file.to_string_lossy().ends_with(ending)).count()
    };
    let jobs: usize = segments.iter().map(|it| it.jobs().len()).sum();
    let mut out = String::new();
    let mut metric =
        |name: &str, kind: &str, help: &str, unit: &str, value: &dyn std::fmt::Display| {
            let total = if kind == "counter" { "_total" } else { "" };
            let _ = writeln!(out, "# TYPE topobroker_{name} {kind}");
            if !unit.is_empty() {
                let _ = writeln!(out, "# UNIT topobroker_{name} {unit}");
            }
            let _ = writeln!(out, "# HELP topobroker_{name} {help}");
            let _ = writeln!(out, "topobroker_{name}{total} {value}");
        };
    let size = newest.map_or(0, |it| it.size);
    let mapped: usize = segments.iter().map(|it| it.mapped_by.len()).sum();
    let seconds = Duration::from_nanos(created).as_secs();
    metric("publications", "counter", "Topologies that were published", "", &counts.publications);
    metric("looks", "counter", "Times that the machine was looked at in full", "", &counts.looks);
    metric("failures", "counter", "Times that looking or publishing failed", "", &counts.failures);
    metric(
        "generation",
        "gauge",
        "Generation of the newest topology",
        "",
        &newest.map_or(0, generation),
    );
    metric("published_timestamp_seconds", "gauge", "When it was published", "seconds", &seconds);
    metric("segment_bytes", "gauge", "Size of its segment", "bytes", &size);
    metric("objects", "gauge", "Number of its objects", "", &counts.objects);
    metric("segments", "gauge", "Generations that are still there", "", &segments.len());
    metric("adopters", "gauge", "Processes that map one of them", "", &mapped);
    metric("jobs", "gauge", "Jobs on them", "", &jobs);
    metric(
        "legacy_segments",
        "gauge",
        "Segments of hwloc beside them",
        "",
        &ends_with(HWLOC_ENDING),
    );
    metric(
        "guard_slot_files",
        "gauge",
        "Slots of the hwloc guard beside them",
        "",
        &ends_with(SLOTS_ENDING),
    );
    let _ = writeln!(out, "# TYPE topobroker info\n# HELP topobroker Versions");
    let versions =
        format!("version=\"{}\",hwloc=\"{}\"", env!("CARGO_PKG_VERSION"), library_version());
    let _ = writeln!(out, "topobroker_info{{{versions}}} 1\n# EOF");
    out
}
