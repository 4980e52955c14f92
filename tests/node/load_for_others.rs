//! `topobroker load`: keys for processes that have none.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use topobroker_reader::Keys;
use topobroker_tests::segments::topobroker;

/// Every process of this test asks with this setting, so none shares with other tests.
const OWN: (&str, &str) = ("HWLOC_OWN_OF_THIS_TEST", "load_for_others");

fn load(words: &[&str]) -> Command {
    let mut command = topobroker();
    command.arg("load").args(words).env(OWN.0, OWN.1).env("TOPOBROKER_LOAD_KEEPS", "0");
    for name in ["TOPOBROKER_FILE", "TOPOBROKER_ADDR", "TOPOBROKER_SIZE"] {
        command.env_remove(name);
    }
    command.env("TOPOBROKER_RUN", "/nonexistent");
    command
}

fn keys_of(child: Child) -> Keys {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Keys::from_lines(std::str::from_utf8(&output.stdout).unwrap()).unwrap()
}

fn file_of(keys: &Keys) -> &Path {
    keys.path().unwrap()
}

#[test]
fn many_processes_that_load_for_one_discover_once_and_release_removes_it() {
    let mut owner = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let pid = owner.id().to_string();
    let start = || load(&["--for", &pid]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let all: Vec<Child> = (0..8).map(|_| start().unwrap()).collect();
    let keys: Vec<Keys> = all.into_iter().map(keys_of).collect();
    assert!(keys.iter().all(|it| *it == keys[0]), "{keys:?}");
    let file = file_of(&keys[0]);
    // Only whoever has discovered is an owner; here all are for one.
    assert_eq!(keys_of(start().unwrap()), keys[0]);
    let name = file.to_str().unwrap();
    // What is another process's stays as long as that runs.
    assert!(load(&["--release", name]).status().unwrap().success());
    assert!(file.exists());
    assert!(load(&["--release", name, "--for", &pid]).status().unwrap().success());
    assert!(!file.exists());
    drop(owner.stdin.take());
    owner.wait().unwrap();
}

#[test]
fn what_was_loaded_for_a_process_that_is_gone_is_removed_by_the_next_one() {
    let own = |words: &[&str]| {
        let mut command = load(words);
        command.env(OWN.0, "gone").stdout(Stdio::piped()).stderr(Stdio::piped());
        keys_of(command.spawn().unwrap())
    };
    let mut gone = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let first = own(&["--for", &gone.id().to_string()]);
    assert!(file_of(&first).exists());
    drop(gone.stdin.take());
    gone.wait().unwrap();
    let pid = std::process::id().to_string();
    let second = own(&["--for", &pid]);
    assert!(first != second && !file_of(&first).exists() && file_of(&second).exists());
    let mut release = load(&["--release", file_of(&second).to_str().unwrap()]);
    assert!(release.env(OWN.0, "gone").status().unwrap().success());
    assert!(!file_of(&second).exists());
}

#[test]
fn what_hwloc_loads_by_options_is_for_one_process_and_goes_with_it() {
    let pid = std::process::id().to_string();
    let own = || {
        let mut command = load(&["--for", &pid]);
        command.env("HWLOC_SYNTHETIC", "core:3 pu:1");
        keys_of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    };
    let (first, second) = (own(), own());
    assert!(first != second);
    for keys in [first, second] {
        let file = file_of(&keys).to_str().unwrap();
        let mut release = load(&["--release", file, "--for", &pid]);
        // Also if it is young.
        assert!(release.env("TOPOBROKER_LOAD_KEEPS", "100").status().unwrap().success());
        assert!(!Path::new(file).exists());
    }
}
