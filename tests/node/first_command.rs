//! The first command of somebody who has just installed the program, and what they publish then.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;
use topobroker_tests::segments::{topobroker, topobroker_file};

/// Standard output, standard error and whether it succeeded, without keys and without a daemon.
fn run(arguments: &[&str], runtime: &Path) -> (String, String, bool) {
    let mut command = topobroker();
    command.args(arguments).env("TOPOBROKER_RUN", "/nonexistent").env("XDG_RUNTIME_DIR", runtime);
    for key in ["TOPOBROKER_FILE", "TOPOBROKER_ADDR", "TOPOBROKER_SIZE"] {
        command.env_remove(key);
    }
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.success())
}

fn runtime_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    folder
}

#[test]
fn where_nothing_is_published_the_machine_is_shown_and_a_line_says_so() {
    for arguments in [
        &["ls"][..],
        &["info"],
        &["calc", "core:0"],
        &["distrib", "1"],
        &["devices", "--all"],
        &["links"],
        &["networks"],
        &["export"],
        &["ports"],
        &["ls", "-v"],
        &["info", "-v"],
        &["calc", "-v", "core:0"],
    ] {
        let (text, said, succeeded) = run(arguments, Path::new("/nonexistent"));
        assert!(succeeded, "{arguments:?}: {said}");
        let expected = "topobroker: nothing is published to this process: this is the machine as it is now; \
                        `topobroker publish` shares it with all processes\n";
        // Scripts get no message; on a terminal `ls` and `draw` say it.
        let is_verbose = arguments.contains(&"-v");
        assert_eq!(said.starts_with(expected), is_verbose, "{arguments:?}: {said}");
        assert!(is_verbose || said.is_empty(), "{arguments:?}: {said}");
        let named = run(&[arguments, &["-i", "machine"]].concat(), Path::new("/nonexistent"));
        // Clocks and free memory are in no answer but the sizes of NUMA nodes, which may change.
        assert_eq!(text.lines().count(), named.0.lines().count(), "{arguments:?}");
    }
    let (_, said, succeeded) = run(&["ls", "--adopted"], Path::new("/nonexistent"));
    assert!(!succeeded && said.contains("TOPOBROKER_FILE is not set"), "{said}");
    for arguments in [&["ls", "--job", "x"][..], &["ls", "--view", "mine"]] {
        let (_, said, succeeded) = run(arguments, Path::new("/nonexistent"));
        assert!(!succeeded && said.contains("TOPOBROKER_FILE is not set"), "{arguments:?}: {said}");
    }
}

#[test]
fn what_a_user_publishes_is_found_in_other_shells_until_it_is_withdrawn() {
    let runtime = runtime_folder();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_str().unwrap();
    let publish = ["publish", "-i", "Package:2 Core:3 PU:1", "--folder", at];
    let (keys, said, _) = run(&publish, runtime.path());
    assert_eq!(said, "");
    let file = keys.lines().next().unwrap().strip_prefix("TOPOBROKER_FILE=").unwrap().to_owned();
    let (text, said, _) = run(&["calc", "-N", "core", "all"], runtime.path());
    assert_eq!((text.as_str(), said.contains(&file)), ("6\n", true), "{said}");
    assert!(said.starts_with("topobroker: this is what you have published here: "), "{said}");
    // Other users' shells do not look there, and a folder that others can use is not believed.
    fs::set_permissions(runtime.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (_, said, _) = run(&["ls", "-v"], runtime.path());
    assert!(said.contains("nothing is published to this process"), "{said}");
    fs::set_permissions(runtime.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let keys_file = runtime.path().join("topobroker/keys");
    assert_eq!(keys_file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&keys_file, fs::Permissions::from_mode(0o666)).unwrap();
    let (_, said, _) = run(&["ls", "-v"], runtime.path());
    assert!(said.contains("nothing is published to this process"), "{said}");
    fs::set_permissions(&keys_file, fs::Permissions::from_mode(0o600)).unwrap();
    run(&["unpublish", &file], runtime.path());
    let (_, said, _) = run(&["ls", "-v"], runtime.path());
    assert!(said.contains("nothing is published to this process"), "{said}");
}

#[test]
fn a_file_of_another_kind_names_the_command_that_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let none = Path::new("/nonexistent");
    let (xml, _, _) = run(&["lstopo", "--version"], none);
    assert!(xml.contains("hwloc"), "{xml}");
    let (xml, _, _) = run(&["export", "-i", "Core:2 PU:1"], none);
    fs::write(at("n.xml"), xml).unwrap();
    assert!(run(&["cluster", "build", &at("c"), &format!("n={}", at("n.xml"))], none).2);
    let publish = ["publish", "-i", "Core:2 PU:1", "--folder", folder.path().to_str().unwrap()];
    let (keys, _, _) = run(&publish, none);
    let segment = keys.lines().next().unwrap().strip_prefix("TOPOBROKER_FILE=").unwrap().to_owned();
    for (arguments, expected) in [
        (["ls", "-i", &at("c")], "is a cluster: `topobroker cluster export"),
        (["ls", "-i", &segment], "is a published topology: give its keys"),
        (["cluster", "ls", &at("n.xml")], "is XML: `topobroker cluster build OUTPUT"),
        (["cluster", "ls", &segment], "is the topology of one node: `topobroker cluster build"),
    ] {
        let (_, said, succeeded) = run(&arguments, none);
        assert!(!succeeded && said.contains(expected), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_missing_job_is_reported_in_the_same_words_by_all_commands() {
    let mut command = topobroker();
    let script = "for c in 'job show b' 'job nics b' 'job gpus b' 'job locality b' 'job groups b' 'ls --job b' \
                  'devices --job b --rank 0' 'check --job b' 'job remove b'; do $T $c; done";
    let folder = tempfile::tempdir().unwrap();
    command.args(["run", "-i", "Core:2 PU:1", "--folder"]).arg(folder.path());
    command.args(["--", "sh", "-c", script]).env("T", topobroker_file());
    let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
    let expected =
        "topobroker: there is no job \"b\" over this topology; `topobroker job list` lists them";
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 9, "{said}");
    assert!(lines.iter().all(|line| *line == expected), "{said}");
}
