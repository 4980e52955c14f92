//! `load()`: takes the topology from the first source that has one. If none has, one process
//! discovers it for all.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use topobroker_embedding::{compile, succeed, topobroker};
use topobroker_samples::temporary;

/// Lock for tests that load. They take turns, because all processes of a user and cgroup take part
/// in one election.
pub(crate) fn alone() -> std::fs::File {
    let file = temporary().join("election.lock");
    let file = std::fs::File::create(file).unwrap();
    file.lock().unwrap();
    file
}

fn loader(folder: &Path) -> PathBuf {
    compile(folder, "cc", "loader.c", "loader", &["topobroker"], &[])
}

/// Words of a loader's line: segment, publisher, PUs.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn processes_that_load_at_once_without_a_publisher_share_one_discovery() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let program = loader(folder.path());
    // All processes stay until the last one has loaded.
    let start = |_| {
        let mut command = Command::new(&program);
        command.arg("wait").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..32).map(start).collect();
    let lines: Vec<String> = children.iter_mut().map(first_line).collect();
    let publishers: std::collections::BTreeSet<&str> =
        lines.iter().map(|line| words(line)[1]).collect();
    let segments: std::collections::BTreeSet<&str> =
        lines.iter().map(|line| words(line)[0]).collect();
    assert_eq!((publishers.len(), segments.len()), (1, 1), "{lines:?}");
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let winner = publishers.first().unwrap();
    let left = std::fs::read_dir("/dev/shm").unwrap().flatten().map(|it| it.file_name());
    let left: Vec<_> =
        left.filter(|it| it.to_string_lossy().contains(words(&lines[0])[0])).collect();
    assert!(left.is_empty(), "of {winner}: {left:?}");
}

fn first_line(child: &mut std::process::Child) -> String {
    use std::io::BufRead;
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}

#[test]
fn a_winner_that_is_killed_blocks_no_process_and_its_segment_goes() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let program = loader(folder.path());
    let mut command = Command::new(&program);
    let piped = command.arg("wait").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut winner = piped.spawn().unwrap();
    let line = first_line(&mut winner);
    assert_eq!(words(&line)[1], winner.id().to_string());
    winner.kill().unwrap();
    winner.wait().unwrap();
    let next = succeed(&mut Command::new(&program));
    assert_ne!(words(&next)[0], words(&line)[0]);
    let left = std::fs::read_dir("/dev/shm").unwrap().flatten().map(|it| it.file_name());
    let left: Vec<_> = left.filter(|it| it.to_string_lossy().contains(words(&line)[0])).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_forked_child_that_outlives_the_election_blocks_no_process() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let program = loader(folder.path());
    // The parent takes the election's lock while another of its threads forks children.
    let mut command = Command::new(&program);
    let piped = command.arg("fork").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut forking = piped.spawn().unwrap();
    let first = first_line(&mut forking);
    let start = std::time::Instant::now();
    let next = succeed(&mut Command::new(&program));
    assert!(start.elapsed() < std::time::Duration::from_secs(5));
    assert_eq!(words(&next)[0], words(&first)[0]);
    drop(forking.stdin.take());
    assert!(forking.wait().unwrap().success());
}

#[test]
fn processes_with_other_settings_of_hwloc_do_not_share() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let program = loader(folder.path());
    let mut command = Command::new(&program);
    command.arg("wait").env("HWLOC_ALLOW", "all").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut other = command.spawn().unwrap();
    let theirs = first_line(&mut other);
    let own = succeed(&mut Command::new(&program));
    assert_ne!(words(&own)[0], words(&theirs)[0]);
    drop(other.stdin.take());
    assert!(other.wait().unwrap().success());
}

#[test]
fn load_skips_a_segment_that_is_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let program = loader(folder.path());
    let mut command = Command::new(&program);
    command
        .env("TOPOBROKER_FILE", "/nonexistent")
        .env("TOPOBROKER_ADDR", "0")
        .env("TOPOBROKER_SIZE", "1");
    let line = succeed(&mut command);
    assert!(words(&line)[2].parse::<usize>().unwrap() > 0, "{line}");
}

#[test]
fn load_prefers_a_published_topology_to_discovery() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let program = loader(folder.path());
    let mut command = topobroker();
    let line = succeed(command.args(["run", "-i", "Core:5 PU:3", "--"]).arg(&program));
    assert_eq!(words(&line)[2], "15");
}

#[test]
fn a_topology_from_hwlocs_environment_variables_is_loaded_privately() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let program = loader(folder.path());
    let line = succeed(Command::new(&program).env("HWLOC_SYNTHETIC", "Core:5 PU:3"));
    assert_eq!(words(&line)[2], "15");
}
