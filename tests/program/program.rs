//! The program, as a person or a launcher uses it.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use topobroker_reader::Keys;
use topobroker_samples::saved_root::SavedRoot;
use topobroker_tests::segments::{adopter, topobroker, topobroker_file};

const MACHINE: [&str; 2] = ["-i", "Package:2 Core:2 PU:2"];

fn run(arguments: &[&str]) -> Output {
    topobroker().args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// A command `topobroker run` of a shell script, with a folder of its own.
fn run_in(folder: &Path, script: &str) -> Command {
    let mut command = topobroker();
    command.arg("run").arg("--folder").arg(folder).args(MACHINE).args(["--", "sh", "-c", script]);
    command
}

#[test]
fn run_hands_the_keys_to_its_command_and_returns_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $TOPOBROKER_FILE $TOPOBROKER_ADDR $TOPOBROKER_SIZE; exit 7";
    let output = run_in(folder.path(), script).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let words: Vec<&str> = text(&output.stdout).split_whitespace().collect();
    assert!(words[0].starts_with(folder.path().to_str().unwrap()), "{words:?}");
    // The second address if the publisher itself has a mapping at the first.
    assert!(["0x7ff000000000", "0x550000000000"].contains(&words[1]), "{words:?}");
    assert!(words[2].parse::<u64>().unwrap() > 1000);
    assert_eq!(files(folder.path()), 0);
}

#[test]
fn run_returns_128_and_the_signal_of_a_command_that_a_signal_ended() {
    let folder = tempfile::tempdir().unwrap();
    let output = run_in(folder.path(), "kill -KILL $$").output().unwrap();
    assert_eq!(output.status.code(), Some(128 + 9));
    assert_eq!(files(folder.path()), 0);
}

#[test]
fn run_leaves_nothing_when_its_command_cannot_be_started() {
    let folder = tempfile::tempdir().unwrap();
    for (command, code) in [("/nonexistent/program", 127), ("/etc/passwd", 126)] {
        let mut run = topobroker();
        run.arg("run").arg("--folder").arg(folder.path()).args(MACHINE).args(["--", command]);
        let output = run.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(text(&output.stderr).contains(command));
        assert_eq!(files(folder.path()), 0);
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn run_forwards_signals_to_its_command_and_leaves_nothing_after_them() {
    for (number, name, forwarded) in
        [(15, "TERM", Signal::TERM), (2, "INT", Signal::INT), (1, "HUP", Signal::HUP)]
    {
        let folder = tempfile::tempdir().unwrap();
        let script =
            format!("trap 'echo caught; exit 40' {name}; echo ready; while :; do sleep 0.05; done");
        let mut child = run_in(folder.path(), &script).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!((line.as_str(), files(folder.path())), ("ready\n", 1));
        signal(&child, forwarded);
        line.clear();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "caught\n", "{name}");
        assert_eq!(child.wait().unwrap().code(), Some(40), "signal {number}");
        assert_eq!(files(folder.path()), 0);
    }
}

#[test]
fn run_ends_if_a_signal_kills_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut child =
        run_in(folder.path(), "echo ready; exec sleep 60").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let start = Instant::now();
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert!(start.elapsed() < Duration::from_secs(30), "did not wait for the sleep");
    assert_eq!(files(folder.path()), 0);
}

#[test]
fn every_store_reaches_the_command_of_run() {
    for store in [&["--store", "shm"][..], &["--store", "memfd"], &["--store", "file"]] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = topobroker();
        command.arg("run").args(store).args(MACHINE);
        if store.contains(&"file") {
            command.arg("--folder").arg(folder.path());
        }
        command.args(["--", &topobroker_file(), "ls", "-s"]);
        let output = command.output().unwrap();
        assert!(text(&output.stdout).contains("8 PU (type #3)"), "{store:?}: {output:?}");
    }
}

/// The segments in the JSON of `topobroker status`.
fn segments(json: &str) -> Vec<serde_json::Value> {
    let document: serde_json::Value = serde_json::from_str(json).unwrap();
    document["segments"].as_array().unwrap().clone()
}

#[test]
fn what_is_published_is_listed_and_stays_until_it_is_unpublished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let output = run(&["publish", "--folder", path, "--json", MACHINE[0], MACHINE[1]]);
    let keys: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = keys["file"].as_str().unwrap();
    let listed = || {
        let output = run(&["status", "--json", "--folder", path]);
        segments(text(&output.stdout)).into_iter().find(|segment| segment["file"] == file)
    };
    let segment = listed().unwrap();
    assert_eq!(segment["publisher"], "kept");
    assert_eq!(segment["source"], "synthetic");
    assert_eq!(segment["mode"], "0444");
    assert_eq!(segment["mappings"], 0);
    assert_eq!(segment["size"], keys["size"]);
    assert!(text(&run(&["status", "--folder", path]).stdout).contains(file));
    let held = Keys::parse(file, keys["address"].as_str().unwrap(), &keys["size"].to_string());
    let mut command = adopter(&held.unwrap());
    let mut child =
        command.arg("hold").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("ok "), "{line}");
    assert_eq!(listed().unwrap()["mappings"], 1);
    assert_eq!(listed().unwrap()["mapped_by"], serde_json::json!([child.id()]));
    let verbose = run(&["status", "--verbose", "--folder", path]);
    assert!(text(&verbose.stdout).contains(&format!("mapped by: {} ", child.id())), "{verbose:?}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(listed().unwrap()["mappings"], 0);
    assert!(run(&["unpublish", file]).status.success());
    assert!(listed().is_none());
    let again = run(&["unpublish", file]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains(file));
}

#[test]
fn status_counts_mappings_and_knows_whether_the_publisher_lives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let program = topobroker_file();
    let script = format!("{program} status --json --folder {path}; echo $$; exec sleep 60");
    let mut child = run_in(folder.path(), &script).stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut listing = String::new();
    while !listing.ends_with("\n}\n") {
        assert_ne!(reader.read_line(&mut listing).unwrap(), 0, "{listing}");
    }
    let all = segments(&listing);
    let ours = all.iter().find(|s| s["file"].as_str().unwrap().starts_with(path)).unwrap();
    assert_eq!(ours["publisher"], "alive");
    assert_eq!(ours["publisher_pid"], child.id());
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    let all = segments(text(&run(&["status", "--json", "--folder", path]).stdout));
    let ours = all.iter().find(|s| s["file"].as_str().unwrap().starts_with(path)).unwrap();
    assert_eq!(ours["publisher"], "gone");
    let mut shell = String::new();
    reader.read_line(&mut shell).unwrap();
    let shell = Pid::from_raw(shell.trim().parse().unwrap()).unwrap();
    kill_process(shell, Signal::KILL).unwrap();
}

#[test]
fn unpublish_refuses_files_that_are_not_segments() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("letter");
    std::fs::write(&file, "dear segment").unwrap();
    let output = run(&["unpublish", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("is no segment"));
    assert!(file.exists());
}

#[test]
fn bad_input_is_one_clear_line_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input.xml");
    let cases = [
        ("dear topology", "is not XML"),
        ("<topology version=\"2.0\"><object", "is not XML"),
        ("<letter/>", "root element <letter>"),
        ("<topology version=\"3.0\"/>", "hwloc XML version 3.0"),
        ("<topology version=\"2.0\"/>", "the Machine has no NUMANode"),
        // As hwloc reads it: a PU.
        (
            "<topology version=\"2.0\"><object type=\"&#80;U\" os_index=\"4294967294\"/></topology>",
            "PU with OS index \"4294967294\"",
        ),
        (
            "<topology version=\"2.0\"><object type=\"PU\" os_index=\"&#52;294967294\"/></topology>",
            "PU with OS index \"4294967294\"",
        ),
    ];
    let store = tempfile::tempdir().unwrap();
    let check = |input: &str, message: &str| {
        let folder = store.path().to_str().unwrap();
        let output = run(&["publish", "--folder", folder, "-i", input]);
        assert_eq!(output.status.code(), Some(1), "{input}: {output:?}");
        let errors = text(&output.stderr);
        let line = errors.lines().find(|line| line.starts_with("topobroker: "));
        let named = line.is_some_and(|line| line.contains(input) && line.contains(message));
        assert!(named, "{input}: {errors}");
        assert_eq!(files(store.path()), 0);
    };
    for (content, message) in cases {
        std::fs::write(&path, content).unwrap();
        check(path.to_str().unwrap(), message);
    }
    check("/nonexistent/machine.xml", "cannot be read");
    check("Package:2 Foo:3", "\"Foo:3\" at position 10");
    check("/proc/self", "/proc/self/sys");
    let output = run(&["publish", "--folder", "/nonexistent", MACHINE[0], MACHINE[1]]);
    assert!(text(&output.stderr).contains("/nonexistent"), "{output:?}");
}

#[test]
fn a_machine_is_read_from_the_root_of_a_saved_file_system() {
    let saved = SavedRoot::new();
    saved.write("proc/cpuinfo", "processor : 0");
    let root = saved.path().to_str().unwrap();
    let output = run(&["ls", "-i", root, "-s"]);
    let summary = text(&output.stdout);
    assert!(summary.contains("2 Package") && summary.contains("2 PU"), "{output:?}");
    // The command of `run` finds the keys. If it uses hwloc itself, hwloc finds the real machine.
    let mut command = topobroker();
    command.args(["run", "-i", root, "--", "env"]).env("HWLOC_COMPONENTS", "-gl");
    let environment = command.output().unwrap();
    let lines: Vec<&str> = text(&environment.stdout).lines().collect();
    assert!(lines.contains(&"HWLOC_COMPONENTS=-gl"), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("FSROOT") || line.contains("BEFORE")));
    assert!(lines.iter().any(|line| line.starts_with("TOPOBROKER_FILE=/dev/shm/topobroker-")));
}

#[test]
fn publish_fails_and_leaves_nothing_if_its_keys_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = topobroker();
    command.arg("publish").arg("--folder").arg(folder.path()).args(MACHINE);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("the keys cannot be written"), "{output:?}");
    assert_eq!(files(folder.path()), 0);
}

#[test]
fn a_signal_that_is_ignored_stays_ignored_in_the_command_of_run() {
    let folder = tempfile::tempdir().unwrap();
    let program = topobroker_file();
    let inner = format!(
        "trap '' HUP; {program} run --folder {} -i 'PU:2' -- grep SigIgn /proc/self/status",
        folder.path().display()
    );
    let output = Command::new("sh").args(["-c", &inner]).output().unwrap();
    let mask = text(&output.stdout).trim().strip_prefix("SigIgn:").unwrap().trim().to_owned();
    assert_eq!(u64::from_str_radix(&mask, 16).unwrap() & 1, 1, "{output:?}");
}

#[test]
fn wrong_usage_exits_2_and_a_closed_pipe_exits_0() {
    assert_eq!(run(&["publish", "--no-such-option"]).status.code(), Some(2));
    assert_eq!(run(&["unpublish", "--folder", "f"]).status.code(), Some(2));
    let mut child = topobroker()
        .args(["export", "-i", "Package:16 Core:64 PU:4"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

#[test]
fn without_keys_the_error_says_how_to_get_them() {
    let mut command = topobroker();
    command.args(["ls", "--adopted"]).env_remove("TOPOBROKER_FILE");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("TOPOBROKER_FILE is not set"));
}

#[test]
fn devices_lists_nics_and_gpus_and_how_far_they_are() {
    let Some(shared) = topobroker_samples::shared() else { return };
    let file = shared.join("topologies/flux-core__ipa20.xml").display().to_string();
    let devices = |arguments: &[&str]| {
        let output = run(&[&["devices", "-i", &file], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout).to_owned()
    };
    let nics = devices(&["--nic"]);
    assert!(nics.contains("mlx5_0  openfabrics  0000:4d:00.0  NUMA 3  port 1 active\n"), "{nics}");
    assert!(!nics.contains("gpu") && devices(&["--gpu"]).lines().count() == 4);
    let gpus = devices(&["--gpu"]);
    let line = "cuda0  gpu  0000:4e:00.0  NUMA 3  also opencl0d0, nvml0\n";
    assert!(gpus.contains(line), "{gpus}");
    let disks = |text: &str| text.contains("  block");
    assert!(!disks(&devices(&[])) && disks(&devices(&["--all"])));
    let near = devices(&["--nic", "--near", "os:0"]);
    for line in [
        "eno8303  network  0000:01:00.0  NUMA 0  near  distance 5  latency 10  2 bridges  0.6 GB/s\n",
        "mlx5_0  openfabrics  0000:4d:00.0  NUMA 3  port 1 active  same package  distance 6  latency 12  4 bridges  31.5 GB/s\n",
        "mlx5_3  openfabrics  0000:da:00.0  NUMA 5  port 1 down  far  distance 15  latency 21  4 bridges  63.0 GB/s\n",
    ] {
        assert!(near.contains(line), "{near}");
    }
    // No object below the root has all of these PUs, so PMIx has no distance.
    let split = devices(&["--nic", "--near", "package:0-1"]);
    assert!(split.contains("NUMA 0  split  latency 21  2 bridges"), "{split}");
    let json: serde_json::Value =
        serde_json::from_str(&devices(&["--nic", "--near", "os:0", "--json"])).unwrap();
    let first = json.as_array().unwrap().iter().find(|it| it["name"] == "mlx5_0").unwrap();
    assert_eq!(
        (&first["pmix_distance"], &first["numa_logical_indexes"][0]),
        (&6.into(), &3.into())
    );
    let rank = run(&["devices", "--rank", "0"]);
    assert_eq!(rank.status.code(), Some(2), "{rank:?}");
}
