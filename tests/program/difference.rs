//! Compares `topobroker diff` and `patch` with `hwloc-diff` and `hwloc-patch`.

use std::path::Path;
use std::process::{Command, Output};
use topobroker_reader::Archive;
use topobroker_reader::text::xml::export;
use topobroker_samples::{archived, machines, shared};
use topobroker_tests::segments::topobroker;

fn ours(words: &[&str]) -> Output {
    topobroker().args(words).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Another node of the same kind: with less memory, and another serial number.
fn changed(xml: &str) -> Option<String> {
    let (start, rest) = xml.split_once(" local_memory=\"")?;
    let (memory, end) = rest.split_once('"')?;
    let memory: u64 = memory.parse().ok()?;
    let less = format!("{start} local_memory=\"{}\"{end}", memory - 4096);
    let value = "name=\"HostName\" value=\"";
    Some(less.replacen(value, &format!("{value}other-"), 1))
}

#[test]
fn differences_are_those_of_hwloc_diff_and_lead_from_node_to_node_and_back() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (one, other, difference) = (path("one.xml"), path("other.xml"), path("difference"));
    let mut compared = 0;
    for machine in machines(&shared).iter().take(60) {
        let bytes = archived(&machine.path);
        let whole = export(Archive::open(&bytes).unwrap().topology());
        let Some(changed) = changed(&whole) else { continue };
        std::fs::write(&one, &whole).unwrap();
        std::fs::write(&other, &changed).unwrap();
        let theirs = Command::new("hwloc-diff").args([&one, &other]).output().unwrap();
        let found = ours(&["diff", &one, &other]);
        if !theirs.status.success() {
            // hwloc calls memory that some total does not follow too complex.
            assert_eq!(found.status.code(), Some(1), "{}: {found:?}", machine.name);
            continue;
        }
        assert_eq!(text(&found), text(&theirs), "{}", machine.name);
        assert!(text(&found).contains("<diff "), "{}", machine.name);
        std::fs::write(&difference, text(&found)).unwrap();
        let there = ours(&["patch", &one, &difference]);
        let expected = path("expected");
        let patched =
            Command::new("hwloc-patch").args([&one, &difference, &expected]).output().unwrap();
        assert!(patched.status.success(), "{}: {patched:?}", machine.name);
        let expected = std::fs::read_to_string(&expected).unwrap();
        assert_eq!(text(&there), expected, "{}", machine.name);
        std::fs::write(&other, text(&there)).unwrap();
        let back = ours(&["patch", "-R", &other, &difference]);
        assert_eq!(text(&back), whole, "{}", machine.name);
        let twice = ours(&["patch", &other, &difference]);
        assert!(!twice.status.success());
        let message = String::from_utf8_lossy(&twice.stderr).into_owned();
        assert!(message.contains("difference number 1 does not fit"), "{message}");
        compared += 1;
    }
    println!("{compared} machines");
    assert!(compared > 20, "{compared}");
}

#[test]
fn nodes_of_another_structure_are_reported_and_no_file_is_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (name, machine) in [("one.xml", "Core:2 PU:1"), ("other.xml", "Core:2 PU:2")] {
        let made = ours(&["export", "-i", machine, "-o", &path(name)]);
        assert!(made.status.success(), "{made:?}");
    }
    let (one, other) = (path("one.xml"), path("other.xml"));
    let complex = ours(&["diff", &one, &other]);
    let message = String::from_utf8_lossy(&complex.stderr).into_owned();
    assert!(
        complex.status.code() == Some(1) && message.contains("cluster diff --lines"),
        "{message}"
    );
    let same = ours(&["diff", &one, &one, &path("same")]);
    assert!(same.status.success() && Path::new(&path("same")).exists());
    assert_eq!(ours(&["diff", &one, &one, &path("same")]).status.code(), Some(1));
    let bad = ours(&["patch", &one, &other]);
    let message = String::from_utf8_lossy(&bad.stderr).into_owned();
    assert!(!bad.status.success() && message.contains("is no XML of differences"), "{message}");
    // A segment is a node too.
    let published =
        ours(&["publish", "-i", "Core:2 PU:1", "--folder", folder.path().to_str().unwrap()]);
    let keys = text(&published);
    let file = keys.lines().next().unwrap().trim_start_matches("TOPOBROKER_FILE=");
    let found = ours(&["diff", file, &one]);
    assert!(found.status.success(), "{found:?}");
    assert!(!text(&found).contains("<diff "), "{found:?}");
    ours(&["unpublish", file]);
}
