//! `topobroker status`: lists what is published on this node.

use super::{color, json, output};
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use topobroker::hwloc::library_version;
use topobroker::linux::kernel_text;
use topobroker::node::daemon::{looked, repairs};
use topobroker::node::status::{Published, PublisherState, published};
use topobroker_reader::Keys;

/// List what is published on this node
#[derive(Debug, Args)]
pub(super) struct Status {
    /// Look into this folder too; the daemon's folder is always looked into
    #[arg(long, value_name = "FOLDER")]
    folder: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print also the jobs on each segment, its files for unmodified programs, and the
    /// processes that map it
    #[arg(long, short)]
    verbose: bool,
}

impl Status {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let found = published(&with_daemons(&self.folder))?;
        let text = match self.json {
            true => json(&found)?,
            false => color::states(table(&found, self.verbose)),
        };
        output::print(&text)
    }
}

/// `folders`, and the folder of the node's daemon if there is one.
pub(super) fn with_daemons(folders: &[PathBuf]) -> Vec<PathBuf> {
    let daemons = PathBuf::from(Keys::run_folder());
    // If this user may not list the folder, it has nothing for this user.
    let is_new = std::fs::read_dir(&daemons).is_ok() && !folders.contains(&daemons);
    folders.iter().cloned().chain(is_new.then_some(daemons)).collect()
}

fn table(found: &[Published], is_verbose: bool) -> String {
    let versions = format!("topobroker {VERSION}, hwloc {}\n", library_version());
    if found.is_empty() {
        return format!("nothing is published on this node\n{versions}");
    }
    let mut text = format!(
        "{:>9} {:>9} {:>9} {:>10} {:<9} {:<9} {:>8} {:>4} {:>6} FILE\n",
        "SIZE", "AGE", "LOOKED", "GENERATION", "SOURCE", "PUBLISHER", "MAPPINGS", "JOBS", "OWNER"
    );
    for segment in found {
        let age = humane(segment.age().as_secs());
        let looked = looked_at(segment).map_or("-".to_owned(), |it| humane(it.as_secs()));
        let source = segment.header.as_ref().map_or("?", |header| header.source.name());
        let generation = segment.header.as_ref().map_or(0, |header| header.generation);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:>9} {age:>9} {looked:>9} {generation:>10} {source:<9} {:<9} {:>8} {:>4} {:>6} {}",
            segment.size,
            publisher_of(segment).name(),
            segment.mapped_by.len(),
            segment.jobs().len(),
            segment.owner,
            segment.file.display()
        );
        if let Err(error) = &segment.header {
            let _ = writeln!(text, "{:>9} {error}", "");
        }
        if is_verbose {
            text += &details(segment);
        }
    }
    text + &versions
}

/// How long ago a daemon looked whether a segment is still true, with its ports, links and GPUs.
fn looked_at(segment: &Published) -> Option<Duration> {
    looked(segment.file.parent().filter(|_| segment.is_announced())?)
}

/// How often the daemon has put back files of the folder of a segment that were removed.
fn put_back(segment: &Published) -> Option<u64> {
    repairs(segment.file.parent().filter(|_| segment.is_announced())?)
}

/// Whether the publisher of a segment runs, or a daemon that goes on with it: one that has looked
/// just now, because only root can ask whether it runs.
fn publisher_of(segment: &Published) -> PublisherState {
    const RECENT: Duration = Duration::from_secs(60);
    match looked_at(segment) {
        Some(ago) if ago < RECENT => PublisherState::Alive,
        _ => segment.publisher,
    }
}

/// What else there is of a segment, a line for each kind.
fn details(segment: &Published) -> String {
    let mut text = String::new();
    let mut line = |name: &str, values: Vec<String>| {
        if !values.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:>9} {name}: {}", "", values.join(", "));
        }
    };
    let header = segment.header.as_ref().ok();
    line("address", header.map(|it| format!("{:#x}", it.address)).into_iter().collect());
    line("jobs", segment.jobs());
    let put_back = put_back(segment).filter(|count| *count > 0);
    line("put back", put_back.map(|count| format!("{count} times")).into_iter().collect());
    line("files", names(&segment.companion_files()));
    let named = |pid: &u32| {
        let name = kernel_text(format!("/proc/{pid}/comm")).unwrap_or_default();
        format!("{pid} {}", output::in_line(name.trim_end())).trim_end().to_owned()
    };
    let processes: Vec<String> = segment.mapped_by.iter().map(named).collect();
    line("mapped by", processes);
    text
}

/// Names of files, without their folders.
fn names(files: &[PathBuf]) -> Vec<String> {
    let names = files.iter().filter_map(|file| file.file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

fn json(found: &[Published]) -> anyhow::Result<String> {
    let segments = found.iter().map(|segment| {
        let header = segment.header.as_ref().ok();
        json::Segment {
            file: segment.file.display().to_string(),
            size: segment.size,
            mode: format!("{:04o}", segment.mode),
            owner: segment.owner,
            age_seconds: segment.age().as_secs_f64(),
            looked_seconds: looked_at(segment).map(|it| it.as_secs_f64()),
            repairs: put_back(segment),
            publisher: publisher_of(segment).name(),
            publisher_pid: header.map(|header| header.publisher_pid),
            mappings: segment.mapped_by.len(),
            mapped_by: &segment.mapped_by,
            jobs: segment.jobs(),
            companion_files: names(&segment.companion_files()),
            segment_id: header.map(topobroker_layout::header::Header::segment_name),
            address: header.map(|header| format!("{:#x}", header.address)),
            source: header.map(|header| header.source.name()),
            scope: header.map(|header| header.scope.name()),
            generation: header.map(|header| header.generation),
            error: segment.header.as_ref().err().map(ToString::to_string),
        }
    });
    json::text(&json::Status {
        version: VERSION,
        hwloc: library_version(),
        segments: segments.collect(),
    })
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A duration in one unit, rounded down.
fn humane(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}min", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}
