//! Full disks, limits and killed publishers. Each is an error or is survived, and leaves no file.

use std::path::Path;
use std::process::{Command, Output};
use topobroker_tests::segments::{topobroker, topobroker_file, usual};

const MACHINE: &str = "Package:4 Core:16 PU:2";

/// Runs a shell script as root with mounts of its own. Its first argument is the program, its
/// second is a folder. `None` without root.
fn with_mounts(script: &str, folder: &Path) -> Option<Output> {
    if !rustix::process::geteuid().is_root() {
        topobroker_samples::skip(format_args!("mounting takes root"));
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(topobroker_file());
    Some(command.arg(folder).output().unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn assert_no_room(output: &Output) {
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("no room for"), "{error}");
    assert_eq!(out, "", "files are left behind");
}

#[test]
fn a_full_shared_memory_is_an_error_that_leaves_nothing() {
    let script = r#"mount -t tmpfs -o size=4k tmpfs /dev/shm; "$1" publish -i "Package:16 Core:64 PU:2"
        status=$?; ls -A /dev/shm; exit $status"#;
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = with_mounts(script, folder.path()) else { return };
    assert_no_room(&output);
}

#[test]
fn a_full_folder_is_an_error_that_leaves_no_segment_and_no_legacy_files() {
    // The second size has room for our segment, but not for hwloc's.
    for size in ["4k", "24k"] {
        let script = format!(
            r#"mount -t tmpfs -o size={size} tmpfs "$2"
            "$1" publish --legacy --folder "$2" -i "{MACHINE}"; status=$?; ls -A "$2"; exit $status"#
        );
        let folder = tempfile::tempdir().unwrap();
        let Some(output) = with_mounts(&script, folder.path()) else { return };
        assert_no_room(&output);
    }
}

#[test]
fn a_read_only_folder_is_an_error_that_names_it() {
    let script = r#"mount -t tmpfs -o ro tmpfs "$2"; "$1" publish --folder "$2" -i "Core:2 PU:2""#;
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = with_mounts(script, folder.path()) else { return };
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(
        error.contains(folder.path().to_str().unwrap()) && error.contains("Read-only"),
        "{error}"
    );
}

#[test]
fn a_limit_on_the_length_of_files_is_an_error_and_does_not_end_the_publisher() {
    let folder = tempfile::tempdir().unwrap();
    for store in ["--store=memfd", "--store=shm", "--folder"] {
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -f 1; \"$@\"", "sh"])
            .arg(topobroker_file())
            .arg("run")
            .arg(store);
        if store == "--folder" {
            command.arg(folder.path());
        }
        let output = command.args(["-i", MACHINE, "--", "true"]).output().unwrap();
        assert_no_room(&output);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Kills the publisher at every system call by which it writes, names and removes files, before the
/// call is done. Each segment that has a name by then must be whole, and the next publication,
/// wherever it is, must remove all files.
#[test]
fn a_publisher_killed_at_any_step_leaves_a_whole_segment_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        mount -t tmpfs tmpfs /dev/shm
        calls=openat,getrandom,fallocate,write,pwrite64,fchmod,linkat,unlink
        step=1
        while [ $step -le 3000 ]; do
            if strace -qq -f -o /dev/null -e trace=$calls -e inject=$calls:signal=SIGKILL:when=$step \
                "$1" run --legacy -i "Core:2 PU:2" -- true >/dev/null 2>&1; then
                break
            fi
            for file in $(ls -A /dev/shm | grep -v '+'); do
                size=$(stat -c %s /dev/shm/$file)
                TOPOBROKER_FILE=/dev/shm/$file TOPOBROKER_ADDR=0 TOPOBROKER_SIZE=$size "$1" ls >/dev/null ||
                    { echo "step $step: $file is not whole"; exit 1; }
            done
            "$1" run --folder "$2" -i "Core:1 PU:1" -- true || exit 1
            left="$(ls -A /dev/shm)"
            [ -z "$left" ] || { echo "step $step: left $left"; exit 1; }
            step=$((step + 1))
        done
        echo $step
    "#;
    let Some(output) = with_mounts(script, folder.path()) else { return };
    let out = text(&output.stdout);
    assert!(output.status.success(), "{out} {}", text(&output.stderr));
    let steps: usize = out.trim().parse().unwrap();
    assert!((10..3000).contains(&steps), "{steps}");
}

#[test]
fn a_limit_on_the_length_of_files_is_an_error_of_cluster_commands_that_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("n1.xml");
    let exported = topobroker().args(["export", "-i", "Core:2 PU:2"]).output().unwrap();
    std::fs::write(&input, exported.stdout).unwrap();
    let script = "ulimit -f 1; exec \"$0\" cluster build \"$1/out\" n1=\"$1/n1.xml\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(topobroker_file()).arg(folder.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("File too large"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_cluster_is_on_the_disk_before_its_file_has_a_name_and_then_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let exported = topobroker().args(["export", "-i", "Core:2 PU:2"]).output().unwrap();
    std::fs::write(folder.path().join("n1.xml"), exported.stdout).unwrap();
    let mut strace = Command::new("strace");
    strace.args([
        "-qq",
        "-y",
        "-e",
        "trace=fsync,link,linkat,rename,renameat,renameat2",
        "-o",
        "calls",
    ]);
    strace.arg(topobroker_file()).args(["cluster", "build", "out", "n1=n1.xml"]);
    let output = strace.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    let calls: Vec<&str> = calls.lines().collect();
    let place = |what: &dyn Fn(&str) -> bool| calls.iter().position(|line| what(line)).unwrap();
    let of_folder = format!("<{}>", folder.path().display());
    let of_file = place(&|line| line.starts_with("fsync") && !line.contains(&of_folder));
    let named = place(&|line| !line.starts_with("fsync") && line.contains("out"));
    let last = place(&|line| line.starts_with("fsync") && line.contains(&of_folder));
    assert!(of_file < named && named < last, "{calls:?}");
}

#[test]
fn segments_of_an_earlier_boot_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    // The header has another boot id, so that its publisher is gone, even if a process has its pid.
    let published = usual();
    let script = r#"
        mount -t tmpfs tmpfs /dev/shm
        cp "$2" /dev/shm/topobroker-00112233445566778899aabbccddeeff
        "$1" status; "$1" unpublish --stale; echo left:; ls -A /dev/shm
    "#;
    let copy = folder.path().join("copy");
    let mut bytes = std::fs::read(published.file()).unwrap();
    let header = topobroker_layout::header::Header::read(&bytes).unwrap();
    let boot = bytes.windows(16).position(|window| window == header.boot_id).unwrap();
    bytes[boot..boot + 16].copy_from_slice(b"an earlier boot.");
    std::fs::write(&copy, bytes).unwrap();
    let Some(output) = with_mounts(script, &copy) else { return };
    let out = text(&output.stdout);
    assert!(out.contains("gone") && out.ends_with("left:\n"), "{out}");
}
