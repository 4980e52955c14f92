//! Many processes that load at once without a publisher, and winners of the election that are
//! killed.
//!
//! Each test has shared memory of its own, so that every file in it at the end was left behind.

use std::fs::{self, DirEntry};
use std::path::Path;
use std::process::Command;
use topobroker_embedding::{compile, has, is_root, prefix, succeed};

/// Output of a shell script that has a `/dev/shm` of its own, and the loader as its first argument.
/// No segment stays after the process that has published it. `None` without root, or if `unshare`
/// is not installed.
fn in_private_memory(script: &str, arguments: &[&Path]) -> Option<String> {
    if !is_root("shared memory of one's own") || !has("unshare") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let loader = compile(folder.path(), "cc", "loader.c", "loader", &["topobroker"], &[]);
    let set = "set -e; mount -t tmpfs tmpfs /dev/shm; export TOPOBROKER_LOAD_KEEPS=0";
    let script = format!("{set}\n{script}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script, "sh"]).arg(loader).args(arguments);
    Some(succeed(&mut command))
}

#[test]
fn of_256_processes_that_load_at_once_one_discovers_and_the_others_adopt() {
    let notes = tempfile::tempdir().unwrap();
    let audit = prefix().join("lib/topobroker/libtopobroker-guard.so");
    let script = r#"
        mkfifo /dev/shm/end
        # Open for writing as long as they are to stay.
        for i in $(seq 256); do
            LD_PRELOAD="$2" TOPOBROKER_GUARD=0 TOPOBROKER_AUDIT="$3" "$1" wait < /dev/shm/end &
        done > /dev/shm/lines
        exec 3> /dev/shm/end
        while [ "$(wc -l < /dev/shm/lines)" -lt 256 ]; do sleep 0.05; done
        exec 3>&-
        wait
        cut -d ' ' -f 1,2 /dev/shm/lines | sort | uniq -c
        rm /dev/shm/end /dev/shm/lines
        ls -A /dev/shm
    "#;
    let Some(text) = in_private_memory(script, &[&audit, notes.path()]) else { return };
    let lines: Vec<&str> = text.lines().collect();
    // One segment of one publisher, and no file left.
    assert_eq!(lines.len(), 1, "{text}");
    assert!(lines[0].trim_start().starts_with("256 "), "{text}");
    // A process notes a line for each call of hwloc.
    let read =
        |entry: std::io::Result<DirEntry>| fs::read_to_string(entry.unwrap().path()).unwrap();
    let calls: String = fs::read_dir(notes.path()).unwrap().map(read).collect();
    assert_eq!(calls.lines().filter(|call| call.starts_with("load\t")).count(), 1, "{calls}");
}

/// Kills the winner at each system call by which it takes part in the election, publishes, and
/// announces the keys, before the call is done. Each time, the next process must get a topology and
/// leave no file.
#[test]
fn a_winner_killed_at_any_step_leaves_the_next_a_topology_and_nothing_behind() {
    if !has("strace") {
        return;
    }
    let script = r#"
        calls=fcntl,getrandom,fallocate,ftruncate,write,pwrite64,fchmod,linkat,lseek,unlink,rmdir,munmap
        step=1
        while [ $step -le 2000 ]; do
            if strace -qq -f -o /dev/null -e trace=$calls -e inject=$calls:signal=SIGKILL:when=$step "$1" \
                >/dev/null 2>&1; then
                break
            fi
            timeout 20 "$1" >/dev/null || { echo "step $step: the next has no topology"; exit 1; }
            left="$(ls -A /dev/shm)"
            [ -z "$left" ] || { echo "step $step: left $left"; exit 1; }
            step=$((step + 1))
        done
        echo $step
    "#;
    let Some(text) = in_private_memory(script, &[]) else { return };
    let steps: usize = text.trim().parse().unwrap();
    assert!((10..2000).contains(&steps), "{steps}");
}

#[test]
fn processes_that_come_one_after_the_other_share_one_discovery_and_a_later_load_removes_it() {
    let script = r#"
        export TOPOBROKER_LOAD_KEEPS=2
        for i in 1 2 3; do "$1" | cut -d ' ' -f 1; done
        sleep 2.1
        "$1" | cut -d ' ' -f 1
        TOPOBROKER_LOAD_KEEPS=0 "$1" > /dev/null
        ls -A /dev/shm
    "#;
    let Some(text) = in_private_memory(script, &[]) else { return };
    let [first, second, third, later] = text.lines().collect::<Vec<_>>()[..] else {
        panic!("{text}")
    };
    assert!(first == second && second == third && third != later, "{text}");
}

#[test]
fn without_shared_memory_each_process_loads_for_itself() {
    let script = r#"
        umount /dev/shm
        mount -t tmpfs tmpfs /dev
        mknod -m 666 /dev/null c 1 3
        mknod -m 666 /dev/urandom c 1 9
        "$1"
    "#;
    let Some(text) = in_private_memory(script, &[]) else { return };
    assert!(text.split_whitespace().nth(2).unwrap().parse::<usize>().unwrap() > 0, "{text}");
}

#[test]
fn with_full_or_read_only_shared_memory_each_process_loads_for_itself() {
    for remount in ["remount,size=4k", "remount,ro"] {
        let script = format!(
            "mount -o {remount} /dev/shm; head -c 4096 /dev/zero > /dev/shm/x || true; $1; $1"
        );
        let Some(text) = in_private_memory(&script, &[]) else { return };
        assert_eq!(text.lines().count(), 2, "{text}");
    }
}
