//! Each fast path has a patch that puts the plain path in its place, so that `scripts/fast-paths`
//! can measure what it gains.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The name of each patch, with its file.
fn patches() -> Vec<(String, PathBuf)> {
    let files = std::fs::read_dir(root().join("benches/plain")).unwrap().flatten();
    let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_owned();
    files.map(|entry| entry.path()).map(|file| (name(&file), file)).collect()
}

#[test]
fn every_patch_to_a_plain_path_applies() {
    for (name, file) in patches() {
        let mut git = Command::new("git");
        // Outside a repository too, such as in an unpacked release.
        git.current_dir(root()).args(["apply", "--check"]).arg(&file);
        let output = git.output().unwrap();
        assert!(
            output.status.success(),
            "{name}: the fast path has changed. Change its patch too: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn every_fast_path_names_its_row_and_every_row_has_a_patch() {
    let page = std::fs::read_to_string(root().join("docs/FAST_PATHS.md")).unwrap();
    let rows: BTreeSet<String> = page
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
        .filter(|name| !name.contains(':'))
        .collect();
    let patches = patches();
    assert_eq!(rows, patches.iter().map(|(name, _)| name.clone()).collect());
    for (name, patch) in patches {
        let patch = std::fs::read_to_string(patch).unwrap();
        let files = patch.lines().filter_map(|line| line.strip_prefix("--- a/"));
        let cites = format!("Fast path: {name}.");
        let mut texts = files.map(|file| std::fs::read_to_string(root().join(file)).unwrap());
        assert!(texts.any(|text| text.contains(&cites)), "no file of the patch has \"{cites}\"");
    }
}
