//! What the owner of a segment can do to processes that have adopted it, for each kind of store;
//! and adoption under limits, in signal handlers and in set-uid programs.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use topobroker_embedding::{compile, compile_for_others, is_root, prefix, topobroker};

/// A process that adopts again for every line on its standard input.
struct Adopts {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Adopts {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// Makes the process adopt again and returns the line that it prints, empty if it has died.
    fn again(&mut self) -> String {
        let _ = self.child.stdin.as_mut().unwrap().write_all(b"\n");
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line
    }
}

fn program(folder: &Path) -> PathBuf {
    compile(folder, "cc", "again.c", "again", &["topobroker-reader"], &[])
}

/// Publishes a segment in a file, and starts a process that adopts it by a copy or by a mapping.
fn adopted(folder: &Path, copies: bool) -> (topobroker_reader::Keys, Adopts) {
    let mut publish = topobroker();
    publish.args(["publish", "-i", "Package:2 Core:16 PU:2", "--folder"]).arg(folder);
    let keys =
        topobroker_reader::Keys::from_lines(&topobroker_embedding::succeed(&mut publish)).unwrap();
    let mut command = Command::new(program(folder));
    command.envs(keys.to_env()).env("TOPOBROKER_COPY", if copies { "1" } else { "0" });
    let mut adopts = Adopts::start(&mut command);
    assert!(adopts.again().starts_with("adopted 64 PUs"));
    (keys, adopts)
}

fn truncate(keys: &topobroker_reader::Keys) {
    let file = keys.file().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(file, mode).unwrap();
    std::fs::File::options().write(true).open(file).unwrap().set_len(0).unwrap();
}

#[test]
fn a_process_that_copies_keeps_its_topology_when_the_owner_overwrites_or_cuts_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (keys, mut adopts) = adopted(folder.path(), true);
    let file = keys.file().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(file, mode).unwrap();
    let zeros = vec![0; usize::try_from(keys.size()).unwrap()];
    let mut opened = std::fs::File::options().write(true).open(file).unwrap();
    opened.write_all(&zeros).unwrap();
    assert!(adopts.again().starts_with("adopted 64 PUs"));
    truncate(&keys);
    assert!(adopts.again().starts_with("adopted 64 PUs"));
    drop(adopts.child.stdin.take());
    assert!(adopts.child.wait().unwrap().success());
}

#[test]
fn a_process_that_maps_a_file_depends_on_its_owner_as_is_documented() {
    let folder = tempfile::tempdir().unwrap();
    let (keys, mut adopts) = adopted(folder.path(), false);
    // Moving the file away does nothing to processes that have adopted it.
    let moved = folder.path().join("moved");
    std::fs::rename(keys.file().unwrap(), &moved).unwrap();
    assert!(adopts.again().starts_with("adopted 64 PUs"));
    std::fs::rename(&moved, keys.file().unwrap()).unwrap();
    // Truncating the file ends these processes when they read it next.
    truncate(&keys);
    assert_eq!(adopts.again(), "");
    const SIGBUS: i32 = 7;
    assert_eq!(adopts.child.wait().unwrap().signal(), Some(SIGBUS));
}

#[test]
fn a_sealed_memfd_cannot_be_cut_or_written_by_anybody() {
    let script = r#"
        number=${TOPOBROKER_FILE#fd:}
        for change in "truncate -s 0 /proc/self/fd/$number" "dd if=/dev/zero of=/proc/self/fd/$number bs=1 count=1 conv=notrunc"; do
            chmod u+w /proc/self/fd/$number
            $change 2>/dev/null && { echo changed; exit 1; }
        done
        "$0" ls | head -1
    "#;
    let folder = tempfile::tempdir().unwrap();
    let broker = topobroker().get_program().to_owned();
    let mut command = topobroker();
    command
        .args(["run", "--store", "memfd", "-i", "Core:2 PU:2", "--", "sh", "-c", script])
        .arg(broker);
    let text = topobroker_embedding::succeed(&mut command);
    assert!(text.starts_with("Machine"), "{text}");
    drop(folder);
}

#[test]
fn adoption_under_a_limit_is_an_error_and_works_once_the_limit_is_lifted() {
    let folder = tempfile::tempdir().unwrap();
    let limits = compile(folder.path(), "cc", "limits.c", "limits", &["topobroker-reader"], &[]);
    for (limit, error) in
        [("descriptors", "the segment cannot be opened"), ("space", "the segment cannot be mapped")]
    {
        let mut command = topobroker();
        command.args(["run", "-i", "Package:8 Core:32 PU:2", "--"]).arg(&limits).arg(limit);
        assert_eq!(topobroker_embedding::succeed(&mut command), format!("{error}, then success\n"));
    }
}

#[test]
fn with_the_heap_used_up_adoption_ends_with_a_status_and_works_once_there_is_memory() {
    let folder = tempfile::tempdir().unwrap();
    let header = format!("-I{}", prefix().join("include").display());
    let opened = ["-DOPENED", &header, "-pthread", "-ldl"];
    for (packages, flags) in [(&["topobroker-reader"][..], &["-pthread"][..]), (&[], &opened)] {
        let program = compile(folder.path(), "cc", "exhausted.c", "used", packages, flags);
        let mut command = topobroker();
        command.args(["run", "-i", "Package:2 Core:4 PU:2", "--"]).arg(&program);
        command.arg(prefix().join("lib/libtopobroker-reader.so"));
        let text = topobroker_embedding::succeed(&mut command);
        assert!(text.starts_with("99 of 99 well, 0 aborted"), "{flags:?}: {text}");
    }
}

#[test]
fn a_signal_handler_that_interrupts_an_adoption_and_adopts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let program =
        compile(folder.path(), "cc", "interrupted.c", "interrupted", &["topobroker-reader"], &[]);
    let mut command = topobroker();
    command.args(["run", "-i", "Package:8 Core:32 PU:2", "--"]).arg(&program);
    assert_eq!(topobroker_embedding::succeed(&mut command), "0 wrong, some refused\n");
}

#[test]
fn a_set_uid_program_believes_nothing_of_its_environment() {
    if !is_root("making a set-uid program") {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    let program = compile_for_others(folder.path(), "again.c");
    let answer = || {
        let mut broker = topobroker();
        broker.args(["run", "-i", "Core:2 PU:2", "--folder"]).arg(folder.path()).arg("--");
        broker.args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
        broker.args(["sh", "-c", "echo | \"$0\""]).arg(&program);
        topobroker_embedding::succeed(&mut broker)
    };
    assert!(answer().starts_with("adopted 4 PUs"));
    std::fs::set_permissions(&program, mode(0o4755)).unwrap();
    let mounted = std::fs::read_to_string("/proc/self/mounts").unwrap();
    if mounted.lines().any(|line| line.contains(" /tmp ") && line.contains("nosuid")) {
        topobroker_samples::skip(format_args!("no set-uid programs in the temporary folder"));
        return;
    }
    assert!(answer().contains("keys of the segment are missing"));
}
