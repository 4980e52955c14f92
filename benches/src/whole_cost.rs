//! What a process pays in all for a topology, as its user sees it: the library with its relocated
//! pages, what the library needs, page tables, the segment, and the time until the first answer.
//!
//! A C program of a few lines is built without a topology, against the libraries that
//! `scripts/install` installed, and against hwloc. What the first one takes is taken from the
//! others.

use crate::machines::Machine;
use crate::ways::Way;
use anyhow::Context;
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use topobroker::hwloc::capture;
use topobroker::publish::{Address, Publication, PublishOptions, Store, publish};
use topobroker_rival as rival;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/whole_cost.c");

/// The C programs, built against an installation.
#[derive(Debug)]
pub struct Programs {
    folder: tempfile::TempDir,
}

/// The ways for a C program to get a machine's topology, and what is published for them until this
/// is dropped.
#[derive(Debug)]
pub struct WholeCost {
    nothing: Way,
    ways: Vec<Way>,
    _publications: Vec<Publication>,
    _folder: tempfile::TempDir,
}

/// What one way costs each process above the program without a topology.
#[derive(Debug, Clone, Copy, Default)]
pub struct Whole {
    /// Private pages that were written, kB.
    pub private: f64,
    /// Page tables, kB.
    pub tables: f64,
    /// All processes together, kB: their share of all pages, and page tables.
    pub node: f64,
}

impl Programs {
    /// Builds the programs against the libraries below `prefix`.
    pub fn build(prefix: &Path) -> anyhow::Result<Self> {
        let programs = Self { folder: tempfile::tempdir()? };
        let library = library_folder(prefix)?;
        let (library, include) = (library.display(), prefix.join("include"));
        let include = include.display();
        let ours = format!("-DTOPOBROKER -I{include}");
        for (name, options) in [
            ("nothing", String::new()),
            (
                "shared",
                format!("{ours} -L{library} -l:libtopobroker-reader.so -Wl,-rpath,{library}"),
            ),
            // As `pkg-config --static` says.
            ("static", format!("{ours} {library}/libtopobroker-reader.a -Wl,--gc-sections")),
            ("hwloc", "-DHWLOC -lhwloc".to_owned()),
        ] {
            let mut compiler = Command::new(std::env::var_os("CC").unwrap_or("cc".into()));
            compiler.args(["-std=c99", "-O2", "-o"]).arg(programs.path(name)).arg(SOURCE);
            let status = compiler.args(options.split_ascii_whitespace()).status()?;
            anyhow::ensure!(status.success(), "{compiler:?}: {status}");
        }
        Ok(programs)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// The folder of libraries below a prefix, which has another name on some systems.
fn library_folder(prefix: &Path) -> anyhow::Result<PathBuf> {
    let mut folders = ["lib", "lib64"].into_iter().map(|name| prefix.join(name));
    let found = folders.find(|folder| folder.join("libtopobroker-reader.so").exists());
    found.with_context(|| {
        format!("no libtopobroker-reader.so below {}: run scripts/install there", prefix.display())
    })
}

impl WholeCost {
    /// Publishes a machine for every way.
    pub fn new(machine: &Machine, programs: &Programs) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir_in("/dev/shm")?;
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let topology = machine.load()?;
        let description = capture(&topology)?;
        let (mut ways, mut publications) = (Vec::new(), Vec::new());
        for (name, program, address) in [
            ("libtopobroker-reader.so", "shared", Address::Usual),
            ("libtopobroker-reader.a", "static", Address::Usual),
            (".so, anywhere", "shared", Address::Anywhere),
            (".a, anywhere", "static", Address::Anywhere),
        ] {
            let store = Store::Folder(folder.path().to_owned());
            let options = PublishOptions { store, address, ..PublishOptions::default() };
            let publication = publish(&description, &options)?;
            let keys = publication.keys().to_env().into_iter();
            let keys = keys.map(|(key, value)| (key.to_owned(), text(value.into())));
            ways.push(Way::of_program(name, programs.path(program), Vec::new(), keys.collect()));
            publications.push(publication);
        }
        let file = folder.path().join("hwloc");
        let length = rival::length(&topology)?;
        let opened = File::options().read(true).write(true).create_new(true).open(&file)?;
        rival::write(&topology, &opened, length)?;
        let segment = vec![text(file), format!("{:#x}", rival::ADDRESS), length.to_string()];
        let empty = folder.path().join("no-plugins");
        std::fs::create_dir(&empty)?;
        let lean = vec![("HWLOC_PLUGINS_PATH".to_owned(), text(empty))];
        let hwloc = |name, environment| {
            Way::of_program(name, programs.path("hwloc"), segment.clone(), environment)
        };
        ways.push(hwloc("libhwloc.so, no plugins", lean));
        ways.push(hwloc("libhwloc.so as installed", Vec::new()));
        let nothing = Way::of_program("nothing", programs.path("nothing"), Vec::new(), Vec::new());
        Ok(Self { nothing, ways, _publications: publications, _folder: folder })
    }

    /// The cost of each way with as many processes at once: the median of three runs.
    pub fn memory(&self, processes: usize) -> anyhow::Result<Vec<(&'static str, Whole)>> {
        let median = |way: &Way| -> anyhow::Result<_> {
            let mut runs = [way.cost(processes)?, way.cost(processes)?, way.cost(processes)?];
            runs.sort_by(|one, other| one.total().total_cmp(&other.total()));
            let [_, median, _] = runs;
            Ok(median)
        };
        let nothing = median(&self.nothing)?;
        let each = |all: f64| all / processes as f64;
        let cost = |way: &Way| -> anyhow::Result<_> {
            let cost = median(way)?.less(&nothing);
            let (private, tables) = (cost.memory.private_dirty, cost.memory.page_tables);
            let whole = Whole { private: each(private), tables: each(tables), node: cost.total() };
            Ok((way.name, whole))
        };
        self.ways.iter().map(cost).collect()
    }

    /// Time from the start of a process to its end, above that of the program without a topology.
    /// All ways take turns, in another order each round, because each leaves its caches to the
    /// next; the median of each.
    pub fn start(&self, rounds: usize) -> anyhow::Result<Vec<(&'static str, f64)>> {
        let all: Vec<&Way> = std::iter::once(&self.nothing).chain(&self.ways).collect();
        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); all.len()];
        let mut order: Vec<_> = all.iter().zip(&mut times).collect();
        for _ in 0..rounds {
            fastrand::shuffle(&mut order);
            for (way, times) in &mut order {
                times.push(way.start_to_end()?);
            }
        }
        let medians = times.iter_mut().map(|times| {
            times.sort();
            times.get(times.len() / 2).map_or(0.0, |median| median.as_secs_f64() * 1e6)
        });
        let medians: Vec<f64> = medians.collect();
        let nothing = medians.first().copied().unwrap_or(0.0);
        let above = all.iter().zip(medians).map(|(way, median)| (way.name, median - nothing));
        Ok(above.skip(1).collect())
    }

    /// A table of all that this measures, for people and for Markdown.
    pub fn table(&self, counts: &[usize], rounds: usize) -> anyhow::Result<String> {
        let mut table = format!("| {:<25} ", "way");
        for count in counts {
            write!(table, "| private kB, {count:>3} | tables kB | node MB ")?;
        }
        table.push_str("| start us |\n| --- |");
        table.push_str(&" ---: | ---: | ---: |".repeat(counts.len()));
        table.push_str(" ---: |\n");
        let memory =
            counts.iter().map(|count| self.memory(*count)).collect::<anyhow::Result<Vec<_>>>()?;
        for (place, (name, start)) in self.start(rounds)?.into_iter().enumerate() {
            write!(table, "| {name:<25} ")?;
            for (_, whole) in memory.iter().filter_map(|ways| ways.get(place)) {
                let node = whole.node / 1024.0;
                write!(table, "| {:>15.1} | {:>9.1} | {node:>7.2} ", whole.private, whole.tables)?;
            }
            writeln!(table, "| {start:>8.0} |")?;
        }
        Ok(table)
    }
}
