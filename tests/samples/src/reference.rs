//! The reference data: machines and recorded answers of other programs.

use crate::{checkout, skip};
use std::path::{Path, PathBuf};

/// The folder of reference data, if it is there: `TOPOBROKER_SHARED`, or next to the checkout.
pub fn shared_folder() -> Option<PathBuf> {
    let default = checkout().join("../shared");
    let folder = std::env::var_os("TOPOBROKER_SHARED").map_or(default, PathBuf::from);
    folder.join("topologies").is_dir().then_some(folder)
}

/// Folder of the reference data. If it is not there, says so on standard error and returns `None`.
pub fn shared() -> Option<PathBuf> {
    let folder = shared_folder();
    if folder.is_none() {
        skip(format_args!("no reference data next to the checkout or in TOPOBROKER_SHARED"));
    }
    folder
}

/// A file of the reference topologies.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Path of the file.
    pub path: PathBuf,
    /// Name of the file.
    pub name: String,
}

/// The reference topologies that hwloc 2.9 loads.
pub fn machines(shared: &Path) -> Vec<Machine> {
    listed(shared, true)
}

/// The reference topologies that hwloc 2.9 refuses.
pub fn refused_machines(shared: &Path) -> Vec<Machine> {
    listed(shared, false)
}

fn listed(shared: &Path, loads: bool) -> Vec<Machine> {
    let folder = shared.join("topologies");
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).expect("index of topologies");
    let rows: Vec<Vec<&str>> = index.lines().map(|line| line.split('\t').collect()).collect();
    let (header, rows) = rows.split_first().expect("a header line");
    let column = header.iter().position(|name| *name == "loads_2.9.0").expect("column loads_2.9.0");
    let rows = rows.iter().filter(|row| (row.get(column) == Some(&"yes")) == loads);
    let names = rows.map(|row| row.first().copied().unwrap_or_default());
    names.map(|name| Machine { path: folder.join(name), name: name.to_owned() }).collect()
}

/// Recorded answer of one of hwloc's programs.
#[derive(Debug, Clone)]
pub struct Row {
    /// File name of the topology in the reference data.
    pub xml: String,
    /// The program and its arguments, quoted as for a shell.
    pub command: String,
    /// Exit status of the program.
    pub exit: i32,
    /// What the program printed on standard output.
    pub stdout: String,
    /// First line that the program printed on standard error.
    pub stderr: String,
}

/// Reads the answers in a file of the reference data. Answers of a program that crashed are left
/// out.
pub fn rows(shared: &Path, file: &str) -> Vec<Row> {
    let table = std::fs::read_to_string(shared.join("oracles").join(file).with_extension("tsv"));
    let table = table.expect("a file of answers");
    let rows = table.lines().skip(1).map(|line| {
        let [_, xml, command, exit, stdout, stderr] = line.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("expected six columns: {line}");
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

/// Splits a command line into words at spaces. Text between quotes (`'` or `"`) is not split.
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
