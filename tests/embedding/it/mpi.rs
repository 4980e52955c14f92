//! MPI launchers below `topobroker run`: each rank adopts the segment that it publishes.

use std::path::Path;
use std::process::Command;
use topobroker_embedding::{assert_one_address, compile, has, succeed, topobroker};

/// Sorted lines that ranks print under a launcher. Asserts that no file of a segment is left.
/// `None` if the launcher or the compiler is not installed.
fn ranks(folder: &Path, compiler: &str, launcher: &[&str]) -> Option<Vec<String>> {
    if !has(launcher[0]) || !has(compiler) {
        return None;
    }
    let rank = compile(folder, compiler, "rank.c", "rank", &["topobroker-reader"], &["-DWITH_MPI"]);
    let mut command = topobroker();
    command.args(["run", "--folder"]).arg(folder).arg("--").args(launcher).arg(rank);
    let text = succeed(&mut command);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    let left = std::fs::read_dir(folder).unwrap().flatten();
    let left: Vec<_> = left.filter(|entry| entry.file_name() != "rank").collect();
    assert!(left.is_empty(), "{left:?}");
    Some(lines)
}

fn assert_one_segment(lines: &[String], expected: usize) {
    assert_eq!(lines.len(), expected, "{lines:?}");
    let segment = lines[0].split_whitespace().nth(3).unwrap();
    for (rank, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("rank {rank} segment {segment} at 0x")), "{line}");
    }
    assert_one_address(lines.iter().map(|line| line.split_whitespace().nth(5).unwrap()));
}

#[test]
fn ranks_of_open_mpi_adopt_one_segment_at_one_address() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "4"];
    let Some(lines) = ranks(folder.path(), "mpicc.openmpi", &launcher) else { return };
    assert_one_segment(&lines, 4);
    assert!(lines.iter().all(|line| line.contains(" launch 0 ")), "{lines:?}");
}

#[test]
fn ranks_of_mpich_adopt_one_segment_at_one_address() {
    let folder = tempfile::tempdir().unwrap();
    let Some(lines) = ranks(folder.path(), "mpicc.mpich", &["mpirun.mpich", "-n", "4"]) else {
        return;
    };
    assert_one_segment(&lines, 4);
    assert!(lines.iter().all(|line| line.contains(" launch 2 ")), "{lines:?}");
}

#[test]
fn ranks_that_mpich_binds_see_what_they_are_bound_to() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = ["mpirun.mpich", "-n", "2", "-bind-to", "core"];
    let cores = succeed(Command::new("nproc").args(["--all"]));
    if cores.trim() == "1" {
        topobroker_samples::skip(format_args!("one PU leaves nothing to bind to"));
        return;
    }
    let Some(lines) = ranks(folder.path(), "mpicc.mpich", &launcher) else { return };
    assert_one_segment(&lines, 2);
    let part = |line: &String| line.split("sees PUs ").nth(1).unwrap().to_owned();
    assert_ne!(part(&lines[0]), part(&lines[1]), "{lines:?}");
}
