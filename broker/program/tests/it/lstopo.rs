//! Compares `topobroker ls` with lstopo-no-graphics: with recorded outputs, and with the installed
//! program.

use clap::Parser;
use std::collections::BTreeMap;
use topobroker_cli::ls::Ls;
use topobroker_layout::encode::AlignedVec;
use topobroker_reader::Archive;
use topobroker_samples::{Row, archived, machines, rows, shared, topology_of_xml};

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    ls: Ls,
}

/// `ls` does not have this option. Rows with it are skipped.
const ELSEWHERE: &str = "--distances-transform";

#[test]
fn ls_prints_what_lstopo_prints() {
    let Some(shared) = shared() else { return };
    let mut archives = BTreeMap::new();
    let (mut passed, mut refused, mut failed) = (0, 0, Vec::new());
    let all = rows(&shared, "lstopo");
    for Row { xml, command, stdout, stderr, .. } in &all {
        if command.contains(ELSEWHERE) {
            continue;
        }
        let archive: &AlignedVec =
            archives.entry(xml).or_insert_with(|| archived(shared.join("topologies").join(xml)));
        let opened = Archive::open(archive).unwrap();
        let topology = opened.topology();
        let arguments = command.split(' ');
        let printed = Command::try_parse_from(arguments).unwrap().ls.text(Some(topology));
        match printed {
            Ok(printed) if printed == *stdout => passed += 1,
            Err(_) if !stderr.is_empty() => refused += 1,
            other => {
                let printed = other.unwrap_or_else(|error| format!("{error:#}"));
                let differing = printed.lines().zip(stdout.lines()).find(|(a, b)| a != b);
                failed.push(format!("{xml}: {command}\n  {differing:?} {stderr}"));
            }
        }
    }
    let total = passed + failed.len();
    println!("lstopo.tsv: {passed} of {total} identical, {refused} refused");
    let report: String = failed.iter().map(|failure| failure.clone() + "\n").collect();
    assert!(passed * 100 >= total * 99, "{report}{passed} of {total} identical");
    print!("{report}");
}

/// Options that the recorded outputs leave out.
const MORE_OPTIONS: [&str; 15] = [
    "-v",
    "-v -v",
    "-l",
    "-c",
    "-v -p -c",
    "--no-collapse",
    "--only bridge -v",
    "--only misc",
    "--no-smt",
    "--ignore core",
    "--ignore pu --ignore l2",
    "--no-useless-caches -v",
    "-C",
    "--taskset",
    "-C --taskset --no-smt",
];

#[test]
fn ls_prints_what_the_installed_lstopo_prints() {
    let Some(shared) = shared() else { return };
    let lstopo = |arguments: &[&str]| {
        std::process::Command::new("lstopo-no-graphics").args(arguments).output().ok()
    };
    let version = lstopo(&["--version"]).map(|output| String::from_utf8(output.stdout).unwrap());
    if version.as_ref().is_none_or(|version| !version.contains(" 2.9.")) {
        topobroker_samples::skip(format_args!(
            "lstopo-no-graphics 2.9 is not installed, found {version:?}"
        ));
        return;
    }
    for machine in machines(&shared) {
        let topology = topology_of_xml(&machine.path);
        for options in MORE_OPTIONS {
            let command = ["ls"].into_iter().chain(options.split(' '));
            let printed =
                Command::try_parse_from(command).unwrap().ls.text(Some(topology)).unwrap();
            let file = ["-i", machine.path.to_str().unwrap(), "--if", "xml", "--of", "console"];
            let arguments: Vec<&str> = file.into_iter().chain(options.split(' ')).collect();
            let expected = String::from_utf8(lstopo(&arguments).unwrap().stdout).unwrap();
            assert_eq!(printed, expected, "{} {options}", machine.name);
        }
    }
}
