//! What the daemon reports to monitoring and to containers.

use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use topobroker_samples::{Daemon, until};
use topobroker_tests::segments::topobroker;

fn machine(folder: &Path, synthetic: &str) {
    let xml = topobroker().args(["export", "-i", synthetic]).output().unwrap();
    std::fs::write(folder.join("machine.xml"), xml.stdout).unwrap();
}

/// A daemon that serves a machine in a file, in a folder of the test.
fn serving(folder: &Path, options: &[&str]) -> Daemon {
    machine(folder, "Package:1 Core:2 PU:1");
    let input = folder.join("machine.xml");
    let own = ["--interval", "1", "-i", input.to_str().unwrap()];
    Daemon::start(topobroker(), &folder.join("run"), &[&own, options].concat())
}

/// The values of a text for Prometheus, whose rules are checked: a help and a type of each metric
/// before its value, and `_total` at the end of counters alone.
fn values(text: &str) -> BTreeMap<String, f64> {
    let (mut helped, mut typed, mut values) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
    assert!(text.ends_with('\n'), "{text}");
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", name, _] => assert!(helped.insert(name), "{line}"),
            ["#", "TYPE", name, kind] => {
                assert!(helped.contains(name) && typed.insert(name), "{line}");
                let expected = if name.ends_with("_total") { "counter" } else { "gauge" };
                assert_eq!(kind, expected, "{line}");
            }
            [sample, value] => {
                let name = sample.split('{').next().unwrap();
                assert!(typed.contains(name), "{line}");
                values.insert(name.to_owned(), value.parse().unwrap());
            }
            _ => panic!("{line}"),
        }
    }
    values
}

#[test]
fn metrics_in_a_file_follow_what_the_daemon_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("topobroker.prom");
    let mut daemon = serving(folder.path(), &["--metrics", file.to_str().unwrap()]);
    let now = || values(&std::fs::read_to_string(&file).unwrap_or("\n".to_owned()));
    until("a file of metrics", || file.exists());
    let first = now();
    assert_eq!(
        ["publications_total", "failures_total", "generation", "objects", "segments", "adopters"]
            .map(|name| first[&format!("topobroker_{name}")]),
        [1.0, 0.0, 0.0, 7.0, 1.0, 0.0]
    );
    assert!(first["topobroker_segment_bytes"] > 500.0);
    machine(folder.path(), "Package:2 Core:2 PU:1");
    daemon.signal(Signal::HUP);
    until("a second generation", || now()["topobroker_generation"] == 1.0);
    assert_eq!(now()["topobroker_publications_total"], 2.0);
    std::fs::write(folder.path().join("machine.xml"), "no machine").unwrap();
    daemon.signal(Signal::HUP);
    until("a failure", || now()["topobroker_failures_total"] >= 1.0);
    let messages = daemon.end();
    assert!(messages.contains("machine.xml"), "{messages}");
    assert!(messages.contains("serves generation 0"), "{messages}");
    assert!(!file.exists());
}

#[test]
fn a_file_that_cannot_be_written_is_said_and_the_daemon_serves_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut daemon = serving(folder.path(), &["--metrics", "/nonexistent/folder/file"]);
    let output = topobroker()
        .args(["ls", "--adopted"])
        .env("TOPOBROKER_RUN", folder.path().join("run"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = daemon.end();
    assert_eq!(said.matches("/nonexistent/folder/file: the metrics are not written").count(), 1);
}

#[test]
fn the_file_for_containers_mounts_the_folder_where_processes_look() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cdi/topobroker.json");
    let mut daemon = serving(folder.path(), &["--cdi", file.to_str().unwrap()]);
    until("a file for containers", || file.exists());
    let document: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(document["kind"], "topobroker.io/topology");
    let device = &document["devices"][0];
    assert_eq!(device["name"], "node");
    let mount = &device["containerEdits"]["mounts"][0];
    assert_eq!(mount["hostPath"], folder.path().join("run").to_str().unwrap());
    assert_eq!(mount["containerPath"], "/run/topobroker");
    assert!(mount["options"].as_array().unwrap().contains(&"ro".into()));
    daemon.end();
    assert!(!file.exists());
}
