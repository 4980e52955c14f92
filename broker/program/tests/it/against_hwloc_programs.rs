//! Compares `topobroker calc`, `info` and `distrib` with recorded answers of hwloc-calc, hwloc-info
//! and hwloc-distrib.

use clap::Parser;
use std::collections::BTreeMap;
use std::path::Path;
use topobroker::hwloc::Input;
use topobroker_cli::calc::Calc;
use topobroker_cli::distrib::Distrib;
use topobroker_cli::info::Info;
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::{Archive, Topology};
use topobroker_samples::{
    Row, archived, describe, machines, rows, shared, topology_of, topology_of_xml, words,
};

#[derive(Parser)]
enum Command {
    #[command(name = "hwloc-calc")]
    Calc(Box<Calc>),
    #[command(name = "hwloc-info")]
    Info(Box<Info>),
    #[command(name = "hwloc-distrib")]
    Distrib(Box<Distrib>),
}

/// Known differences: part of the file's name, start of the command, and the reason.
const DIFFERENCES: [(&str, &str, &str); 3] = [
    ("", "hwloc-calc -H ", "hwloc prints a separator for an object below which there is nothing"),
    ("netloc", "hwloc-calc os:0-1 -N pu", "hwloc silently counts one device as two; refused here"),
    ("9654", "hwloc-info numa:0", "hwloc cuts a set after 127 characters"),
];

/// Options that change how the file is loaded.
const LOADING: [&str; 2] = ["--disallowed", "--ignore"];

/// Output of a command about a topology, or its error. A command with one of the [`LOADING`]
/// options loads the file itself.
fn output(line: &[String], file: &Path, loaded: Topology<'_>) -> Result<String, String> {
    let itself = LOADING.iter().any(|option| line.iter().any(|word| word == option));
    let input = ["-i", file.to_str().unwrap(), "--if", "xml"].map(str::to_owned);
    let (name, arguments) = line.split_first().unwrap();
    let words = ["test", name].map(str::to_owned).into_iter();
    let words: Vec<String> = match itself {
        true => words.chain(input).chain(arguments.to_vec()).collect(),
        false => words.chain(arguments.to_vec()).collect(),
    };
    let command = Command::try_parse_from(words).map_err(|error| error.to_string())?;
    let loaded = (!itself).then_some(loaded);
    let answer = match command {
        Command::Calc(calc) => calc.text(loaded),
        Command::Info(info) => info.text(loaded),
        Command::Distrib(distrib) => distrib.text(loaded),
    };
    answer.map_err(|error| format!("{error:#}"))
}

struct Outcome {
    passed: usize,
    refused: usize,
    failed: Vec<String>,
}

/// Runs the commands of some rows. If hwloc printed nothing on standard error, our answer must be
/// the same; otherwise it may also be an error.
fn run(shared: &Path, rows: &[Row], archives: &BTreeMap<&str, AlignedVec>) -> Outcome {
    let mut outcome = Outcome { passed: 0, refused: 0, failed: Vec::new() };
    for row in rows {
        let file = shared.join("topologies").join(&row.xml);
        let opened = Archive::open(&archives[row.xml.as_str()]).unwrap();
        let loaded = opened.topology();
        match output(&words(&row.command), &file, loaded) {
            Ok(printed) if printed == row.stdout => outcome.passed += 1,
            Err(_) if !row.stderr.is_empty() => outcome.refused += 1,
            other => {
                let found = other.unwrap_or_else(|error| error);
                let same =
                    found.bytes().zip(row.stdout.bytes()).take_while(|(a, b)| a == b).count();
                let rest = |text: &str| {
                    let rest = String::from_utf8_lossy(&text.as_bytes()[same..]);
                    rest.chars().take(150).collect::<String>()
                };
                let (found, expected) = (rest(&found), rest(&row.stdout));
                let known = DIFFERENCES.iter().find(|(file, command, _)| {
                    row.xml.contains(file) && row.command.starts_with(command)
                });
                let reason = known.map_or("UNEXPLAINED", |(_, _, reason)| reason);
                outcome.failed.push(format!(
                    "{}: {}: {reason}\n  found    {found:?}\n  expected {expected:?} {}",
                    row.xml, row.command, row.stderr
                ));
            }
        }
    }
    outcome
}

#[test]
fn calc_info_and_distrib_answer_as_hwlocs_programs_do() {
    let Some(shared) = shared() else { return };
    for file in ["hwloc-calc", "hwloc-info", "hwloc-distrib"] {
        let rows = rows(&shared, file);
        let mut archives = BTreeMap::new();
        for row in &rows {
            archives.entry(row.xml.as_str()).or_insert_with(|| {
                let path = shared.join("topologies").join(&row.xml);
                archived(path)
            });
        }
        let silent = rows.iter().filter(|row| row.stderr.is_empty()).count();
        let (first, second) = rows.split_at(rows.len() / 2);
        let halves = std::thread::scope(|scope| {
            let half = scope.spawn(|| run(&shared, first, &archives));
            [run(&shared, second, &archives), half.join().unwrap()]
        });
        let failed: Vec<&String> = halves.iter().flat_map(|half| &half.failed).collect();
        let passed: usize = halves.iter().map(|half| half.passed).sum();
        let refused: usize = halves.iter().map(|half| half.refused).sum();
        failed.iter().for_each(|failure| println!("{failure}"));
        println!(
            "{file}.tsv: {passed} of {} identical ({silent} had nothing on standard error), \
             {refused} refused, {} different",
            rows.len(),
            failed.len()
        );
        assert!(failed.len() * 1000 <= silent * 5, "{} differ", failed.len());
        let unexplained = failed.iter().filter(|failure| failure.contains("UNEXPLAINED"));
        assert_eq!(unexplained.count(), 0, "a difference without a reason");
    }
}

/// Objects that the recorded answers leave out. Some machines do not have them.
const MORE_OBJECTS: [&str; 8] = [
    "root",
    "group:all",
    "bridge:0-1",
    "pci:0-2",
    "os:0-2",
    "misc:0",
    "memcache:0",
    "--ancestors pu:0 core:1",
];

#[test]
fn calc_answers_old_options_and_odd_numbers_as_hwloc_calc_does() {
    let topology = topology_of(&describe(&Input::Synthetic("node:4 core:4 pu:4".to_owned())));
    for (line, expected) in [
        ("hwloc-calc --pulist pu:0-1", "0,1\n"),
        ("hwloc-calc --proclist core:1", "4,5,6,7\n"),
        ("hwloc-calc --nodelist core:7-8", "1,2\n"),
        // From the tests that come with hwloc.
        ("hwloc-calc --no-smt=3 0x1fe", "0x00000080\n"),
        ("hwloc-calc --no-smt=4 0x1fe", "0x0\n"),
        ("hwloc-calc --no-smt=-1 0x1fe", "0x000001fe\n"),
    ] {
        let found = output(&words(line), Path::new(""), topology);
        assert_eq!(found.as_deref(), Ok(expected), "{line}");
    }
}

#[test]
fn info_prints_what_the_installed_hwloc_info_prints() {
    let Some(shared) = shared() else { return };
    let theirs = |file: &Path, objects: &str| {
        let mut command = std::process::Command::new("hwloc-info");
        command.args(["--if", "xml", "-i"]).arg(file).args(objects.split(' ')).output().ok()
    };
    let version = std::process::Command::new("hwloc-info").arg("--version").output().ok();
    let version = version.map(|output| String::from_utf8(output.stdout).unwrap());
    if version.as_ref().is_none_or(|version| !version.contains(" 2.9.")) {
        topobroker_samples::skip(format_args!(
            "hwloc-info 2.9 is not installed, found {version:?}"
        ));
        return;
    }
    let mut compared = 0;
    for machine in machines(&shared).into_iter().step_by(4) {
        let topology = topology_of_xml(&machine.path);
        for objects in MORE_OBJECTS.into_iter().chain(["--support"]) {
            let expected = theirs(&machine.path, objects).unwrap();
            let line = words(&format!("hwloc-info {objects}"));
            match output(&line, &machine.path, topology) {
                Ok(printed) => {
                    // hwloc cuts a set after 127 characters.
                    let cut =
                        printed.lines().any(|line| line.contains("set = ") && line.len() > 140);
                    if !cut {
                        let expected = String::from_utf8(expected.stdout).unwrap();
                        assert_eq!(printed, expected, "{}: {objects}", machine.name);
                        compared += 1;
                    }
                }
                Err(error) => {
                    assert!(
                        error.contains("the topology has") || error.contains("there is no"),
                        "{error}"
                    );
                }
            }
        }
    }
    assert!(compared > 60, "{compared}");
}
