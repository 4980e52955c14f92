//! Attacks by another user, and files that change between the check and the mapping.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use topobroker_embedding::{compile_for_others, has, is_root, succeed, topobroker};
use topobroker_reader::Keys;
use topobroker_samples::made_cgroup::MadeCgroup;

/// Publishes a machine in a folder.
fn published(folder: &Path, machine: &str) -> Keys {
    let mut publish = topobroker();
    publish.args(["publish", "--store", "file", "-i", machine, "--folder"]).arg(folder);
    Keys::from_lines(&succeed(&mut publish)).unwrap()
}

/// Output of a process that adopts a machine of 64 PUs. strace holds the process for four seconds
/// after it has opened and checked the file, before it maps it. In this time, `meanwhile` is called
/// with the folder and the file. `None` if strace is not installed.
fn held_before_mapping(meanwhile: impl FnOnce(&Path, &Path)) -> Option<String> {
    if !has("strace") {
        return None;
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let keys = published(folder, "Package:2 Core:16 PU:2");
    let (program, file) = (compile_for_others(folder, "again.c"), keys.path().unwrap());
    let note = folder.join("note");
    let mut command = Command::new("strace");
    // strace writes each call down before it is made, and delays mmap by four seconds.
    command.arg("-qq").arg("-o").arg(&note).arg("-P").arg(file).args(["-e", "trace=fstat,mmap"]);
    command.args(["-e", "inject=mmap:delay_enter=4000000"]).arg(program);
    command.envs(keys.to_env()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let written = |call: &str| std::fs::read_to_string(&note).is_ok_and(|it| it.contains(call));
    let start = Instant::now();
    // The last call on the file before mmap is the fstat that reads its length.
    while !written("fstat") {
        assert!(start.elapsed() < Duration::from_secs(60), "the file was never opened");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(100));
    meanwhile(folder, file);
    assert!(!written(" = 0x"), "the file was mapped too early");
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_file_swapped_in_after_the_check_is_not_adopted() {
    let text = held_before_mapping(|folder, file| {
        let other = published(folder, "Package:2 Core:2 PU:2");
        std::fs::rename(other.file().unwrap(), file).unwrap();
    });
    let Some(text) = text else { return };
    assert!(text.starts_with("adopted 64 PUs"), "{text}");
}

#[test]
fn a_file_that_shrinks_between_the_check_and_the_mapping_is_an_error() {
    let text = held_before_mapping(|_, file| {
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o644)).unwrap();
        std::fs::File::options().write(true).open(file).unwrap().set_len(0).unwrap();
    });
    let Some(text) = text else { return };
    assert!(text.contains("has 0 bytes, the size key says "), "{text}");
}

#[test]
fn a_hard_link_is_trusted_only_if_its_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let keys = published(folder.path(), "Core:2 PU:2");
    let link = folder.path().join("link");
    std::fs::hard_link(keys.path().unwrap(), &link).unwrap();
    let program = compile_for_others(folder.path(), "again.c");
    let says = || {
        let mut command = Command::new("sh");
        command.args(["-c", "echo | \"$0\""]).arg(&program).envs(keys.to_env());
        succeed(command.env("TOPOBROKER_FILE", &link))
    };
    assert!(says().starts_with("adopted 4 PUs"));
    if is_root("a file of another user") {
        std::os::unix::fs::chown(keys.path().unwrap(), Some(65534), None).unwrap();
        assert!(says().contains("belongs to user 65534"), "{}", says());
    }
}

/// Another user creates files of every kind under the name that the election of root's processes
/// uses.
#[test]
fn an_election_never_uses_a_file_that_another_user_made() {
    if !is_root("another user") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compile_for_others(folder.path(), "loader.c");
    let script = r#"
        set -e
        mount -t tmpfs -o mode=1777 tmpfs /dev/shm
        mkfifo /dev/shm/end
        "$1" wait < /dev/shm/end > /dev/shm/line &
        exec 3> /dev/shm/end
        for i in $(seq 400); do [ -s /dev/shm/line ] && break; sleep 0.05; done
        ballot="$(ls /dev/shm/topobroker-load-*)"
        exec 3>&-; wait; rm /dev/shm/end /dev/shm/line
        echo secret > /dev/shm/victim; chmod 600 /dev/shm/victim
        for take in "echo x > $ballot" "mkfifo $ballot" "mkdir $ballot" "ln -s /dev/shm/victim $ballot" \
            "printf 'TOPOBROKER_FILE=/dev/shm/victim\nTOPOBROKER_ADDR=0\nTOPOBROKER_SIZE=7\n' > $ballot; chmod 666 $ballot"
        do
            setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$take"
            before="$(ls -ln $ballot)"
            timeout 20 "$1" > /dev/null || { echo "no topology next to: $take"; exit 1; }
            [ "$(ls -ln $ballot)" = "$before" ] || { echo "changed: $take"; exit 1; }
            rm -r $ballot
        done
        cat /dev/shm/victim
        rm /dev/shm/victim
        ls -A /dev/shm
    "#;
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(program);
    assert_eq!(succeed(&mut command), "secret\n");
}

/// Asserts that processes started by a command share a segment with each other, but not with
/// processes that are started without it.
fn share_with_their_own_kind(program: &Path, start: &[&str]) {
    let started = |arguments: &[&str]| {
        let mut command = Command::new(start[0]);
        command.args(&start[1..]).arg(program).args(arguments);
        command
    };
    let mut waits =
        started(&["wait"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(waits.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(succeed(&mut started(&[])), line);
    let own = succeed(&mut Command::new(program));
    assert_ne!(own.split(' ').next(), line.split(' ').next());
    drop(waits.stdin.take());
    assert!(waits.wait().unwrap().success());
}

#[test]
fn different_users_and_cgroups_never_share_an_elected_segment() {
    if !is_root("another user") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compile_for_others(folder.path(), "loader.c");
    let _alone = crate::loading::alone();
    let another_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    share_with_their_own_kind(&program, &another_user);
    let Some(cgroup) = MadeCgroup::of_pus("0") else { return };
    share_with_their_own_kind(&program, &cgroup.words().each_ref().map(String::as_str));
}
