//! A list of all unsafe code in crates that are loaded into processes of other programs, with the
//! reason for each block.

use std::path::{Path, PathBuf};

const HEAD: &str = "\
# Unsafe code

Every `unsafe` block of the crates that go into others' processes, with the reason that stands above it. Modules
that are not listed here have none. This file is made from the sources: run the test
`docs_unsafe_md_lists_all_unsafe_code` with `TOPOBROKER_UPDATE_UNSAFE=1`, and read what changed.
";

/// Source folders of these crates.
const FOLDERS: [&str; 5] = ["layout/src", "reader/src", "broker/src", "ffi/src", "ffi/guard/src"];

#[test]
fn docs_unsafe_md_lists_all_unsafe_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut list = HEAD.to_owned();
    for folder in FOLDERS {
        for file in sources(&root.join(folder)) {
            let reasons = reasons(&std::fs::read_to_string(&file).unwrap());
            if !reasons.is_empty() {
                let name = file.strip_prefix(root).unwrap().display();
                list += &format!("\n## {name}\n\n{}", reasons.concat());
            }
        }
    }
    let file = root.join("docs/UNSAFE.md");
    if std::env::var_os("TOPOBROKER_UPDATE_UNSAFE").is_some() {
        std::fs::write(&file, &list).unwrap();
    }
    assert!(
        std::fs::read_to_string(&file).unwrap_or_default() == list,
        "docs/UNSAFE.md is stale: run this test with TOPOBROKER_UPDATE_UNSAFE=1, and read what changed"
    );
}

#[test]
fn the_archive_has_no_unsafe_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../layout/src");
    let text = std::fs::read_to_string(folder.join("lib.rs")).unwrap();
    assert!(text.contains("#![forbid(unsafe_code)]"));
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(sources(&path)),
            path if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            _ => {}
        }
    }
    found.sort();
    found
}

/// Formats each `SAFETY` comment as an item of the list, with the line of code below it.
fn reasons(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if let Some(first) = lines[at].strip_prefix("// SAFETY:") {
            let more = lines[at + 1..].iter().take_while(|line| line.starts_with("//"));
            let more: Vec<&str> = more.map(|line| line.trim_start_matches('/').trim()).collect();
            at += more.len() + 1;
            let reason = std::iter::once(first.trim()).chain(more).collect::<Vec<_>>().join(" ");
            let code = lines.get(at).copied().unwrap_or_default();
            found.push(format!("* `{code}`\n  {}\n", reason.trim()));
        }
        at += 1;
    }
    found
}
