//! What the tests share: the reference data, and building a segment's parts.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use topobroker::hwloc::capture;
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

/// What a program of hwloc answered.
#[derive(Debug, Clone)]
pub struct Row {
    /// The topology, a file of the reference data.
    pub xml: String,
    /// The program and its arguments, as a shell takes them.
    pub command: String,
    /// Its exit status.
    pub exit: i32,
    /// What it printed.
    pub stdout: String,
    /// The first line of what it said on standard error.
    pub stderr: String,
}

/// The answers in a file of the reference data, but for those of a program that crashed.
///
/// # Panics
///
/// If the file is not what its description says.
#[must_use]
pub fn rows(shared: &Path, file: &str) -> Vec<Row> {
    let table = std::fs::read_to_string(shared.join("oracles").join(file).with_extension("tsv"));
    let table = table.expect("a file of answers");
    let rows = table.lines().skip(1).map(|line| {
        let [_, xml, command, exit, stdout, stderr] = line.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("six columns: {line}");
        };
        Row {
            xml: xml.to_owned(),
            command: command.to_owned(),
            exit: exit.parse().expect("an exit status"),
            stdout: unescape(stdout),
            stderr: unescape(stderr),
        }
    });
    rows.filter(|row| row.exit >= 0).collect()
}

/// The words of a command line, where `'` and `"` keep what is between them together.
#[must_use]
pub fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ' ') => words.push(String::new()),
            _ => words.iter_mut().next_back().into_iter().for_each(|word| word.push(letter)),
        }
    }
    words
}

fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                other => plain.extend(other),
            },
            _ => plain.push(letter),
        }
    }
    plain
}

/// An error with its causes, as the program prints it.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
