//! Every promise in docs/RELIABILITY.md names a test that exists.

use std::path::{Path, PathBuf};
use topobroker_samples::checkout;

/// Collects the Rust sources in a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_promise_has_a_test_by_name() {
    let root = checkout();
    let mut files = Vec::new();
    for folder in ["layout", "reader", "broker", "ffi/src", "tests"] {
        sources(&root.join(folder), &mut files);
    }
    let code: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let text = std::fs::read_to_string(root.join("docs/RELIABILITY.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
    let rows: Vec<&str> = rows.filter(|line| !line.starts_with("| what happens")).collect();
    assert!(rows.len() > 30);
    for row in rows {
        let tests = row.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{row}");
        for name in names {
            assert!(code.contains(&format!("fn {name}() {{")), "{name}");
        }
    }
}
