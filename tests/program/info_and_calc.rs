//! `calc`, `info` and `distrib`, as a person uses them: with the adopted segment, with lines on
//! standard input, with mistakes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Output, Stdio};
use topobroker_samples::skip;
use topobroker_tests::segments::{topobroker, topobroker_file};

const MACHINE: [&str; 2] = ["-i", "Package:2 NUMANode:1 Core:2 PU:2"];

fn ask(command: &str, arguments: &[&str]) -> Output {
    topobroker().arg(command).args(MACHINE).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn printed(command: &str, arguments: &[&str]) -> String {
    let output = ask(command, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    text(&output.stdout).to_owned()
}

/// Asserts that a command prints one line with these words on standard error, nothing on standard
/// output, and ends with status 1.
fn refused(command: &str, arguments: &[&str], words: &[&str]) {
    let output = ask(command, arguments);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
    assert_eq!((text(&output.stdout), error.lines().count()), ("", 1), "{error}");
    words.iter().for_each(|word| assert!(error.contains(word), "{word:?} in {error}"));
}

#[test]
fn without_an_input_commands_ask_the_adopted_segment() {
    let folder = tempfile::tempdir().unwrap();
    let program = topobroker_file();
    let script = format!(
        "{program} calc core:1 && {program} info -s core:1 && {program} distrib --single 2 && \
         {program} calc --restrict 0xf0 -N core all"
    );
    let mut run = topobroker();
    run.arg("run")
        .arg("--folder")
        .arg(folder.path())
        .args(MACHINE)
        .args(["--", "sh", "-c", &script]);
    let output = run.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let expected = "0x0000000c\nCore:1\n0x00000001\n0x00000010\n2\n";
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn an_option_of_calc_applies_to_the_locations_after_it() {
    assert_eq!(printed("calc", &["numa:1", "--no", "-n"]), "0x000000f0\n");
    assert_eq!(printed("calc", &["--no", "numa:1"]), "0x00000002\n");
    assert_eq!(printed("calc", &["-I", "core", "--po", "--sep", " ", "all"]), "0 1 2 3\n");
    assert_eq!(printed("calc", &["all", "~core:0", "xpackage:0"]), "0x0000000c\n");
    assert_eq!(printed("calc", &["--quiet", "core:3-5"]), "0x000000c0\n");
    assert_eq!(printed("calc", &["-I", "-3", "all"]), "0,1\n");
    assert_eq!(printed("calc", &["--restrict", "0xf...f", "all"]), "0x000000ff\n");
}

#[test]
fn calc_without_locations_answers_each_line_of_standard_input() {
    let mut calc = topobroker();
    calc.arg("calc").args(MACHINE).args(["-N", "pu"]);
    calc.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = calc.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"core:0 core:1\n").unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    answers.read_line(&mut first).unwrap();
    assert_eq!(first, "4\n", "the answer must come before the next line");
    input.write_all(b"all\n\ncore:9\n").unwrap();
    drop(input);
    let mut rest = String::new();
    answers.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "8\n0\n");
    let output = child.wait_with_output().unwrap();
    let error = text(&output.stderr);
    assert!(error.contains("line 4 of standard input") && error.contains("core:9"), "{error}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_wrong_location_is_one_clear_line_with_status_1_and_wrong_usage_is_status_2() {
    refused("calc", &["core:9"], &["core:9", "there is no", "Machine:0", "4 of them"]);
    refused("calc", &["package:0.core:"], &["no index at position 15", "2-5"]);
    refused("calc", &["die:0"], &["no die", "topobroker info"]);
    refused("calc", &["0xzz"], &["neither an object nor a mask at position 0"]);
    refused("calc", &["os=eth7"], &["OSDev", "eth7"]);
    refused("calc", &["0x1000", "--largest"], &["0x00001000", "0x000000ff"]);
    refused("calc", &["all", "-N", "l3"], &["no l3"]);
    refused("calc", &["all", "--cpukind", "0"], &["no such CPU kind"]);
    refused("calc", &["all", "--best-memattr", "speed"], &["speed", "Capacity"]);
    refused("calc", &["--restrict", "0x0", "all"], &["nothing would be left", "PUs"]);
    refused("calc", &["core:0-4000000000"], &["there is no core:4"]);
    refused("info", &["l2:0"], &["no l2"]);
    refused("info", &["0x3"], &["names no object"]);
    refused("distrib", &["--at", "numa", "2"], &["--at numa", "tree of CPUs"]);
    refused("distrib", &["--to", "l3", "2"], &["--to l3", "no l3"]);
    refused("calc", &["-n", "--no-smt", "all"], &["--no-smt", "--nodeset"]);
    refused("calc", &["core:3:0"], &["an amount of 0 at position 7"]);
    refused("info", &["~core:0"], &["leave out the prefix"]);
    refused("distrib", &["4000000000"], &["4000000000 parts"]);
    let usage: [&[&str]; 4] = [
        &["calc", "-N", "foo", "all"],
        &["calc", "--local-memory-flags", "huge", "all"],
        &["calc", "--largest", "-N", "core", "all"],
        &["distrib", "--ignore", "pu", "2"],
    ];
    for arguments in usage {
        let (command, rest) = arguments.split_first().unwrap();
        assert_eq!(ask(command, rest).status.code(), Some(2), "wrong usage: {arguments:?}");
    }
}

#[test]
fn files_and_descriptions_are_read_without_hwlocs_plugins_for_machines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("node.xml");
    let xml = topobroker().args(["export", "-i", "core:2 pu:1"]).output().unwrap().stdout;
    std::fs::write(&file, xml).unwrap();
    // The plugins that hwloc has loaded.
    let plugins = |input: &str| {
        let mut command = topobroker();
        command.args(["calc", "-N", "core", "all", "-i", input]).env("HWLOC_PLUGINS_VERBOSE", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let ready = |line: &str| Some(line.strip_suffix("' ready")?.rsplit_once('`')?.1.to_owned());
        said.lines().filter_map(ready).collect::<Vec<String>>()
    };
    let of_machine = plugins("machine");
    if of_machine.is_empty() {
        return skip(format_args!("hwloc has no plugins here: install libhwloc-plugins"));
    }
    assert_eq!(plugins("core:2 pu:1"), [""; 0]);
    let of_xml = plugins(file.to_str().unwrap());
    assert!(of_xml.iter().all(|name| name == "hwloc_xml_libxml"), "{of_xml:?}");
    // What a command is started with is not changed.
    let output = topobroker().args(["run", "-i", "core:2 pu:1", "--", "env"]).output().unwrap();
    let variables = text(&output.stdout);
    assert!(variables.contains("TOPOBROKER_FILE=") && !variables.contains("HWLOC_PLUGINS"));
}
